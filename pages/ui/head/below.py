"""A head that is chosen below charts of all heads, or by a click in one of them."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.ui.head.choice import Head, follow_head_click, pick_head
from pages.ui.view import View


@contextmanager
def head_below(view: View, *charts: str, default: Head) -> Iterator[Head]:
    """The head for what the block draws, with its picker under that.

    The picker takes the words `head` and `head_help`.

    Args:
        charts: names of the figures whose clicks choose a head.
    """
    for name in charts:
        follow_head_click(view.key(name))
    above = st.container()
    head = pick_head(view.say("head"), default=default, help=view.say("head_help"))
    with above:
        yield head
