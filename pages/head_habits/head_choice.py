"""Which head is looked at: one picker that all sections share, or a click on a head in a chart."""

import streamlit as st

from analysis.tables.heads import head_pattern
from pages.ui.choices.pick import choose
from pages.ui.head.card import head_card
from pages.ui.head.choice import Head, follow_head_click, pick_head
from pages.ui.head.habits import GROUPS
from pages.ui.store.chosen import ask
from pages.ui.words.say import say

_TOLD = (*GROUPS["special"], "previous", "next")


def follow_click(name: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    follow_head_click(name)


def pick_habits_head() -> Head:
    """A layer and a head, from 1; in the address as `layer-head`."""
    return pick_head(
        say("head_habits.head"), default=_clearest(), help=say("head_habits.head_help")
    )


def opened_head() -> Head:
    """The picker with the card of its head, and the way to the sentences of that head."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        layer, head = pick_habits_head()
    right.button(say("head_habits.to_head"), on_click=choose, args=("hh_view", "one_head"))
    head_card(layer=layer, head=head)
    return layer, head


def _clearest() -> Head:
    """The head that gives most of its attention to one kind of token: the easiest to see."""
    frame = ask(head_pattern.heads)
    frame = frame[frame["quantity"].isin(_TOLD)].dropna(subset="mean")
    if frame.empty:
        return 1, 1
    most = frame.nlargest(1, "mean").iloc[0]
    return int(most["layer"]), int(most["head"])
