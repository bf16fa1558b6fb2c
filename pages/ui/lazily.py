"""What stands folded away is made when its reader opens it, and then alone."""

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
    """A place that is empty until it is opened: most never are, and a page without their contents
    is drawn in half the time.

    Args:
        key: its own, on all pages.
        draw: draws what stands in it; it can ask for all but the section that is drawn.
        look: further options of `st.popover` or `st.expander`.
    """
    place_of_words, files = here(), seen()

    @st.fragment
    def fold() -> None:
        """With the words and the files of the run that the reader sees."""
        with getattr(st, kind)(label, key=key, on_change="rerun", **look) as place:
            if is_open(place):
                with words_of(*place_of_words), seen_once(files):
                    draw()

    fold()


def is_open(place: Any) -> bool:
    """Whether the reader has opened it."""
    return bool(place.open)
