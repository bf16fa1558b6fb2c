"""What attention weights say, and what norms take back (Kobayashi et al. 2020)."""

import streamlit as st

from pages.attention_norms import (
    by_layer,
    dispersion,
    frequency,
    heads,
    one_head,
    relation,
    spectra,
)
from pages.ui.choices.pick import pick
from pages.ui.store.absences import absences
from pages.ui.words.say import say

SECTIONS = {
    "layers": by_layer.show,
    "heads": heads.show,
    "head": one_head.show,
    "relation": relation.show,
    "dispersion": dispersion.show,
    "spectra": spectra.show,
    "frequency": frequency.show,
}

st.title(say("attention_norms.title"))
st.markdown(say("attention_norms.lead"))
absences()
view = pick(
    "an_view",
    say("attention_norms.view"),
    list(SECTIONS),
    default="layers",
    format=lambda each: say(f"attention_norms.view_{each}"),
)
SECTIONS[view]()
