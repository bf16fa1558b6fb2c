"""Layers down, pairs across: a table that is read at a glance, each cell a link to its pair.

Tokens are written by strangers: whatever goes into the markup is escaped here.
"""

from collections.abc import Callable
from html import escape
from typing import Any

import pandas as pd

from pages.token_pairs.units import points
from pages.ui.charts.colours import RELATION_COLOURS
from pages.ui.words.names import relation_name
from pages.ui.words.say import say

_STRONGEST = 0.5
_INKS = {True: "217, 92, 62", False: "47, 134, 201"}  # amplified, attenuated
STYLE = """<style>
.tp-scroll {overflow-x: auto; max-width: 100%}
.tp-grid {border-collapse: separate; border-spacing: 2px; font-size: .78rem; line-height: 1.25}
.tp-grid caption {text-align: left; font-weight: 600; font-size: .9rem; padding: .3rem 0}
.tp-grid th {font-weight: 600; padding: 0 .4rem; text-align: left; opacity: .75}
.tp-grid td {padding: 0; min-width: 4.6rem; max-width: 9rem; vertical-align: top;
  border-radius: 3px; border-left: 4px solid transparent}
.tp-grid td a {display: block; padding: .18rem .35rem; color: inherit; text-decoration: none;
  overflow-wrap: anywhere}
.tp-grid td a:hover, .tp-grid td a:focus {outline: 2px solid currentcolor; border-radius: 3px}
.tp-grid bdi {font-weight: 600}
.tp-grid small {display: block; opacity: .85; font-variant-numeric: tabular-nums}
.tp-grid td.tp-none {opacity: .45; padding: .18rem .35rem}
.tp-key {display: flex; flex-wrap: wrap; gap: .15rem 1rem; font-size: .82rem; padding: .2rem 0}
.tp-key span {border-left: 4px solid; padding-left: .4rem}
</style>"""


def key(relations: list[str]) -> str:
    """Which colour at the left of a cell stands for which relation."""
    spans = (
        f'<span style="border-color: {RELATION_COLOURS[each]}">{escape(relation_name(each))}</span>'
        for each in RELATION_COLOURS
        if each in relations
    )
    return f'<div class="tp-key">{"".join(spans)}</div>'


def grid(
    frame: pd.DataFrame,
    *,
    title: str,
    layers: range,
    places: int,
    top: float,
    address: Callable[[Any], str],
) -> str:
    """One row per layer with its pairs in their order; the ground grows with the root of a change.

    Args:
        frame: rows of `pair_delta.top`.
        top: the change with the strongest ground; shared by the grids that are compared.
        address: where a pair's own section is.
    """
    heads = "".join(f'<th scope="col">{place}</th>' for place in range(1, places + 1))
    by_layer = {layer: list(part.itertuples()) for layer, part in frame.groupby("layer")}
    rows = (_row(layer, by_layer.get(layer, []), places, top, address) for layer in layers)
    return (
        f'<div class="tp-scroll"><table class="tp-grid"><caption>{escape(title)}</caption>'
        f'<thead><tr><th scope="col">{escape(say("axis.layer"))}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(
    layer: int, pairs: list[Any], places: int, top: float, address: Callable[[Any], str]
) -> str:
    cells = "".join(_cell(pair, top, address(pair)) for pair in pairs)
    missing = '<td class="tp-none">–</td>' * (places - len(pairs))
    return f'<tr><th scope="row">{layer}</th>{cells}{missing}</tr>'


def _cell(pair: Any, top: float, address: str) -> str:
    share = min(abs(pair.mean_delta) / top, 1.0) if top > 0 else 0.0
    ground = f"rgba({_INKS[bool(pair.mean_delta > 0)]}, {_STRONGEST * share**0.5:.3f})"
    edge = RELATION_COLOURS[pair.relation]
    return (
        f'<td style="background: {ground}; border-left-color: {edge}">'
        f'<a href="{escape(address)}" target="_self" title="{escape(_told(pair))}">'
        f"<bdi>{escape(pair.source)}</bdi> → <bdi>{escape(pair.target)}</bdi>"
        f"<small>{points(pair.mean_delta)}</small></a></td>"
    )


def _told(pair: Any) -> str:
    """The exact values of one pair, for whoever points at it."""
    interval = (
        ""
        if pd.isna(pair.low)
        else say("token_pairs.interval", low=points(pair.low), high=points(pair.high))
    )
    return say(
        "token_pairs.tables.told",
        source=pair.source,
        target=pair.target,
        delta=points(pair.mean_delta),
        interval=interval,
        n=f"{pair.n:,}",
        n_sequences=f"{pair.n_sequences:,}",
        relation=relation_name(pair.relation),
    )
