"""Picture of a layer: its modules in order, and below them the part that each scope counts in."""

from html import escape

import streamlit as st

from analysis.scopes import WEIGHTS, LayerOrder
from pages.charts.colours import SCOPE_COLOURS
from pages.services.inquiry import Inquiry
from pages.words.names import module_name, paper_name, scope_meaning, scope_name
from pages.words.say import say

_STYLE = """<style>
.lm-layer {display: grid; gap: .25rem .5rem; align-items: center; max-width: 60rem}
.lm-module {border: 1px solid rgba(128, 128, 128, .55); border-radius: 4px; padding: .25rem .3rem;
  text-align: center; line-height: 1.2; font-size: .85rem; font-weight: 600}
.lm-past {border: 2px solid rgba(128, 128, 128, .55); border-bottom: 0;
  border-radius: .5rem .5rem 0 0; height: 1.35rem; font-size: .75rem; text-align: center}
.lm-scope {border-left: 4px solid; border-radius: 3px; padding: .1rem .45rem; line-height: 1.25;
  overflow-wrap: anywhere; background: rgba(128, 128, 128, .12); font-size: .8rem}
.lm-name {display: block; font-size: .75rem; opacity: .85}
</style>"""


def anatomy(inquiry: Inquiry) -> None:
    """Draw the modules of a layer and the reach of every scope, once for all sections."""
    st.caption(say("layer_mixing.anatomy"))
    st.html(f"{_STYLE}{picture(inquiry.store.layer_order)}")


def picture(order: LayerOrder) -> str:
    """Markup of a layer of this order, in a column for every module."""
    modules, past = order.attention + order.network_block, say("layer_mixing.module_past")
    cells = [("past", *ends, 1, escape(past), "") for ends in residuals_of(order)]
    cells += [("module", n, n, 2, module_name(step), "") for n, step in enumerate(modules, 1)]
    for row, (scope, reach) in enumerate(reach_of(order).items(), start=3):
        name = f'title="{escape(paper_name(scope))}">{escape(scope_name(scope))}'
        text = f'{escape(scope_meaning(scope))}<span class="lm-name" {name}</span>'
        cells.append(("scope", *reach, row, text, f"border-left-color: {SCOPE_COLOURS[scope]}"))
    markup = "".join(
        f'<div class="lm-{kind}" style="grid-column: {first} / {last + 1}; grid-row: {row}; '
        f'{style}">{text}</div>'
        for kind, first, last, row, text, style in cells
    )
    columns = f"grid-template-columns: repeat({len(modules)}, minmax(0, 1fr))"
    return f'<div class="lm-layer" style="{columns}">{markup}</div>'


def residuals_of(order: LayerOrder) -> list[tuple[int, int]]:
    """Columns, from 1, between which the residual connections run past the other modules."""
    after, steps = len(order.attention), order.attention + order.network_block
    ends = [at for at, step in enumerate(steps, start=1) if step == "res"]
    return [(1 if order.is_parallel or end <= after else after + 1, end) for end in ends]


def reach_of(order: LayerOrder) -> dict[str, tuple[int, int]]:
    """First and last column, from 1, of the modules that every scope counts in."""
    attention, network = len(order.read) + 1, len(order.attention) + len(order.to_network) + 1
    between = range(attention + 1, attention + 1 + len(order.between))
    after = range(network + 1, network + 1 + len(order.after_network))
    ends = (attention, *between, network, *after)
    reach = {scope: (1, end) for scope, end in zip(order.scopes[1:], ends, strict=True)}
    return {WEIGHTS: (attention, attention)} | reach
