"""Presentation mode: the page alone, in larger and darker type."""

import streamlit as st

from pages.ui.choices.address import Choice, draw
from pages.ui.words.say import say

PRESENT = "present"
"""Parameter of the address in presentation mode."""
_STYLE = """<style>
html {font-size: 118%}
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] {display: none}
[data-testid="stCaptionContainer"][data-testid], [data-testid="stMain"] h3 {opacity: 1}
</style>"""


def present_toggle() -> None:
    """Draw the switch at the top of every page, and apply its effect."""
    with st.container(key="presenting"):
        draw(
            Choice(PRESENT, (False, True), default=False),
            lambda: st.toggle(say("page.present"), key=PRESENT, help=say("page.present_help")),
        )
    if is_presenting():
        st.html(_STYLE)


def is_presenting() -> bool:
    """Return True in presentation mode."""
    return bool(st.session_state.get(PRESENT))
