"""Folds whose content is drawn only after the reader opens them."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from pages.kit.run import run, within


def folded(
    kind: Literal["popover", "expander"],
    label: str,
    key: str,
    draw: Callable[[], None],
    **look: Any,
) -> None:
    """Draw a fold that stays empty until it is opened.

    Most are never opened, and a page without their contents is drawn in half the time.

    Args:
        key: unique on all pages.
        draw: draws the content.
        look: further options of `st.popover` or `st.expander`.
    """
    kept = run()

    @st.fragment
    def fold() -> None:
        """Draw the content within the enclosing run, by its words and on its files."""
        with getattr(st, kind)(label, key=key, on_change="rerun", **look) as place:
            if is_open(place):
                with within(kept):
                    draw()

    fold()


def is_open(place: Any) -> bool:
    """Return True if the reader has opened the fold."""
    return bool(place.open)
