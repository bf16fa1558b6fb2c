"""The row of pickers that the sections on one relation share."""

import streamlit as st

from pages.syntax.choices import Chosen, pick_direction, pick_merging, pick_relation
from pages.syntax.names import relation_line, told_relation
from pages.ui.weighing import pick_weighing
from pages.ui.words.say import say


def pick_chosen() -> Chosen:
    """Relation, direction and the two ways to weigh, and in one line what the relation is."""
    weighing = pick_weighing("sy")
    left, middle, right = st.columns([4, 9, 4])
    with left:
        relation = pick_relation()
    with middle:
        direction = pick_direction()
    with right:
        merging = pick_merging()
    tell(relation)
    return Chosen(relation, direction, merging, weighing)


def tell(relation: str) -> None:
    """What a relation is, in one line."""
    line = relation_line(relation) or say("syntax.unknown")
    st.markdown(f"**{told_relation(relation)}**: {line}")
