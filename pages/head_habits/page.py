"""What heads look at: where to, how broadly, and what of it counts (Clark et al. 2019)."""

import streamlit as st

from pages.head_habits import breadth, by_layer, gradients, heads, one_head, weight_and_norm
from pages.ui.choices.pick import pick
from pages.ui.store.absences import absences
from pages.ui.words.say import say

SECTIONS = {
    "layers": by_layer.show,
    "breadth": breadth.show,
    "gradients": gradients.show,
    "heads": heads.show,
    "one_head": one_head.show,
    "weighing": weight_and_norm.show,
}

st.title(say("head_habits.title"))
st.markdown(say("head_habits.lead"))
absences()
view = pick(
    "hh_view",
    say("head_habits.view"),
    list(SECTIONS),
    default=next(iter(SECTIONS)),
    format=lambda each: say(f"head_habits.view_{each}"),
)
SECTIONS[view]()
