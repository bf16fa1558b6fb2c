"""How attention comes to depend on where tokens stand (Yamamoto and Matsuzaki 2023)."""

import streamlit as st

from pages.shared.absences import order_of_patches
from pages.shared.choices import pick
from pages.shared.positions import claim, embeddings, heads, one_head, states
from pages.shared.words import say

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
