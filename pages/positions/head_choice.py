"""Which head is looked at: one picker that all sections on heads share, or a click in a chart."""

import streamlit as st

from analysis.tables.positions import head_offset
from pages.ui.choices.pick import choose
from pages.ui.head.choice import Head, follow_head_click, head_name, pick_head
from pages.ui.store.chosen import ask
from pages.ui.words.say import say


def follow_click(name: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    follow_head_click(name)


def pick_positions_head() -> Head:
    """A layer and a head, from 1; in the address as `layer-head`."""
    return pick_head(
        say("positions_head.head"),
        default=_most_dependent(),
        help=say("positions_head.head_help"),
    )


def head_row() -> Head:
    """The picker, and beside it the way to the section on the head."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        layer, head = pick_positions_head()
    right.button(
        say("positions_head.to_head", head=head_name(layer, head)),
        on_click=choose,
        args=("po_view", "one_head"),
    )
    return layer, head


def _most_dependent() -> Head:
    """The head whose attention depends most on positions: where there is most to see."""
    heads = ask(head_offset.heads).dropna(subset="dependence")
    if heads.empty:
        return 1, 1
    most = heads.nlargest(1, "dependence").iloc[0]
    return int(most["layer"]), int(most["head"])
