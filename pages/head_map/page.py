"""Which heads of one model attend alike (Clark et al. 2019)."""

import streamlit as st

from pages.head_map import distances, groups, layers, plane, weight_and_norm
from pages.ui.choices.pick import pick
from pages.ui.store.absences import order_of_patches
from pages.ui.words.say import say

SECTIONS = {
    "map": plane.show,
    "groups": groups.show,
    "layers": layers.show,
    "distances": distances.show,
    "weighing": weight_and_norm.show,
}

st.title(say("page.head_map.title"))
st.markdown(say("head_map.lead"))
order_of_patches()
view = pick(
    "hm_view",
    say("head_map.view"),
    list(SECTIONS),
    default=next(iter(SECTIONS)),
    format=lambda each: say(f"head_map.view_{each}"),
)
SECTIONS[view]()
