"""Presentation mode: the page alone, without pickers, magnified to the screen."""

import streamlit as st

from pages.kit.address import Choice, draw
from pages.words.say import say

PRESENT = "present"
"""Parameter of the address in presentation mode."""
_ZOOMS = {1600: 1.5, 2400: 2, 3200: 3}
"""Magnification by the least width of the window in pixels."""
_STYLE = """
[data-testid="stMain"] {zoom: var(--zoom)}
[data-testid="stMain"] :is([data-testid="stVegaLiteChart"],
 [data-testid="stFullScreenFrame"]:has([data-testid="stDataFrame"]))
 {width: calc(100% / var(--zoom)) !important; overflow: visible !important}
[data-testid="stMain"] :is([data-testid="stVegaLiteChart"],
 div:has(> [data-testid="stVegaLiteChart"])) {min-width: 0}
[data-testid="stMain"] [data-testid="stVegaLiteChart"] svg {max-width: none}
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] {display: none}
:is([class*="st-key-toolbar"], [class*="st-key-corner"]) {display: none}
[data-testid="stCaptionContainer"][data-testid], [data-testid="stMain"] h3 {opacity: 1}
"""
"""A page 1280 pixels wide, magnified to the screen: charts are as wide as the page's own pixels, of
which Streamlit measures as many as the screen has."""


def present_toggle() -> None:
    """Draw the switch at the top of every page, and apply its effect."""
    with st.container(key="presenting"):
        draw(
            Choice(PRESENT, (False, True), default=False),
            lambda: st.toggle(say("page.present"), key=PRESENT, help=say("page.present_help")),
        )
    if is_presenting():
        zooms = (
            f"@media (min-width: {at}px) {{html {{--zoom: {by}}}}}" for at, by in _ZOOMS.items()
        )
        st.html(f"<style>html {{--zoom: 1}} {' '.join(zooms)} {_STYLE}</style>")


def is_presenting() -> bool:
    """Return True in presentation mode."""
    return bool(st.session_state.get(PRESENT))


def zoom() -> str:
    """Magnification of a presented page, as a Vega expression."""
    written = "1"
    for least, by in _ZOOMS.items():
        written = f"windowSize()[0] >= {least} ? {by} : {written}"
    return f"({written})"
