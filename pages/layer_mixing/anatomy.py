"""Diagram of a layer's modules, with the scope that ends at each."""

from html import escape

import streamlit as st

from pages.ui.charts.colours import SCOPE_COLOURS
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.names import scope_meaning, scope_name
from pages.ui.words.say import say

_STYLE = """<style>
.lm-layer {display: flex; flex-wrap: wrap; gap: .35rem 0}
.lm-step {display: flex; align-items: stretch}
.lm-step:not(:last-child)::after {content: "→"; align-self: center; padding: 0 .3rem; opacity: .75}
.lm-step div {border: 1px solid rgba(128, 128, 128, .35); border-left-width: 4px;
  border-radius: 4px; padding: .2rem .55rem; line-height: 1.3}
.lm-what {display: block; font-size: .85rem}
.lm-name {display: block; font-size: .8rem; font-weight: 600; opacity: .85}
</style>"""


def anatomy(inquiry: Inquiry) -> None:
    """Draw the modules of a layer with the scope that ends at each, once for all sections."""
    order = inquiry.store.layer_order
    st.caption(f"{say('layer_mixing.anatomy')} {say(f'layer_mixing.anatomy_{order.name}')}")
    steps = "".join(map(_step, order.scopes))
    st.html(f'{_STYLE}<div class="lm-layer" role="list">{steps}</div>')


def _step(scope: str) -> str:
    return (
        f'<div class="lm-step" role="listitem"><div style="border-left-color: '
        f'{SCOPE_COLOURS[scope]}">'
        f'<span class="lm-what">{escape(scope_meaning(scope))}</span>'
        f'<span class="lm-name">{escape(scope_name(scope))}</span></div></div>'
    )
