"""Folds whose content is drawn only after the reader opens them."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from pages.ui.store.open_file import seen, seen_once
from pages.ui.words.place import here, words_of


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
        draw: draws the content; it can use everything except the current section.
        look: further options of `st.popover` or `st.expander`.
    """
    place_of_words, files = here(), seen()

    @st.fragment
    def fold() -> None:
        """Draw the content with the words and the files of the enclosing run."""
        with getattr(st, kind)(label, key=key, on_change="rerun", **look) as place:
            if is_open(place):
                with words_of(*place_of_words), seen_once(files):
                    draw()

    fold()


def is_open(place: Any) -> bool:
    """Return True if the reader has opened the fold."""
    return bool(place.open)
