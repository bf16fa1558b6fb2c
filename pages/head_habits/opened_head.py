"""Which head is looked at, and what is shown of it below a chart of all heads."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from analysis.tables.heads import head_pattern
from pages.ui.choices.pick import choose
from pages.ui.head.below import head_below
from pages.ui.head.card import head_card
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.habits import GROUPS
from pages.ui.store.chosen import ask
from pages.ui.view import View

_SEEN = (*GROUPS["special"], "previous", "next")


@contextmanager
def opened_below(view: View, *charts: str) -> Iterator[Head]:
    """The head for what the block draws; below that its picker, its card, and the way to its texts.

    Args:
        charts: names of the figures and tables whose clicks choose a head.
    """
    with head_below(view, *charts, default=clearest_head()) as (layer, head):
        yield layer, head
    head_card(layer=layer, head=head)
    st.button(view.say("to_head"), on_click=choose, args=(view.key("view"), "one_head"))


def clearest_head() -> Head:
    """The head that gives most of its attention to one kind of token: the easiest to see."""
    frame = ask(head_pattern.heads)
    return head_with_most(frame[frame["quantity"].isin(_SEEN)], "mean")
