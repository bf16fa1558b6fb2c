"""What every module of a layer does to the mixing of tokens (Kobayashi et al. 2021 and 2024)."""

import streamlit as st

from pages.layer_mixing import completeness, frequency, modules, ratio, rollout, similarity, vectors
from pages.layer_mixing.anatomy import anatomy
from pages.ui.choices.pick import pick
from pages.ui.store.absences import absences
from pages.ui.words.say import say

SECTIONS = {
    "similarity": similarity.show,
    "ratio": ratio.show,
    "frequency": frequency.show,
    "modules": modules.show,
    "rollout": rollout.show,
    "vectors": vectors.show,
    "completeness": completeness.show,
}

st.title(say("layer_mixing.title"))
st.markdown(say("layer_mixing.lead"))
absences()
anatomy()
view = pick(
    "lm_view",
    say("layer_mixing.view"),
    list(SECTIONS),
    default="similarity",
    format=lambda each: say(f"layer_mixing.view_{each}"),
)
SECTIONS[view]()
