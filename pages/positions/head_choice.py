"""Which head is looked at: one picker that all sections on heads share."""

import streamlit as st

from analysis.tables.positions import head_offset
from pages.ui.choices.pick import choose
from pages.ui.head.choice import Head, head_name, pick_head
from pages.ui.store.chosen import ask
from pages.ui.view import View


def pick_positions_head(view: View) -> Head:
    """A layer and a head, from 1; unless chosen, the one whose attention depends most on positions,
    where there is most to see."""
    heads = ask(head_offset.heads).dropna(subset="dependence").nlargest(1, "dependence")
    most = heads.iloc[0] if len(heads) else {"layer": 1, "head": 1}
    default = int(most["layer"]), int(most["head"])
    return pick_head(view.say("head"), default=default, help=view.say("head_help"))


def head_row(view: View) -> Head:
    """The picker, and beside it the way to the section on the head."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        layer, head = pick_positions_head(view)
    label = view.say("to_head", head=head_name(layer, head))
    right.button(label, on_click=choose, args=(view.key("view"), "one_head"))
    return layer, head
