"""Which pairs of tokens a layer's modules mix more, and which less (Kobayashi et al. 2024)."""

import streamlit as st

from pages.token_pairs import browse, one_layer, one_pair, overview, pmi
from pages.token_pairs.pair_choice import follow_clicks
from pages.ui.choices.pick import pick
from pages.ui.store.absences import absences
from pages.ui.words.say import say

SECTIONS = {
    "tables": overview.show,
    "layer": one_layer.show,
    "browse": browse.show,
    "pair": one_pair.show,
    "pmi": pmi.show,
}

follow_clicks()
st.title(say("token_pairs.title"))
st.markdown(say("token_pairs.lead"))
absences()
view = pick(
    "tp_view",
    say("token_pairs.view"),
    list(SECTIONS),
    default="tables",
    format=lambda each: say(f"token_pairs.view_{each}"),
)
SECTIONS[view]()
