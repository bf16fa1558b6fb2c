"""How attention comes to depend on where tokens stand (Yamamoto and Matsuzaki 2023)."""

import streamlit as st

from pages.positions import claim, embeddings, heads, one_head, states
from pages.ui.choices.pick import pick
from pages.ui.store.absences import order_of_patches
from pages.ui.words.say import say

SECTIONS = {
    "claim": claim.show,
    "heads": heads.show,
    "one_head": one_head.show,
    "states": states.show,
    "embeddings": embeddings.show,
}

st.title(say("positions.title"))
st.markdown(say("positions.lead"))
order_of_patches()
view = pick(
    "po_view",
    say("positions.view"),
    list(SECTIONS),
    default=next(iter(SECTIONS)),
    format=lambda each: say(f"positions.view_{each}"),
)
SECTIONS[view]()
