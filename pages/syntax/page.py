"""Which heads follow dependencies, and what attention knows of trees (Clark et al. 2019)."""

import streamlit as st

from pages.syntax import heads, one_head, parsers, relations, sentences, weight_and_norm
from pages.ui.choices.pick import pick
from pages.ui.store.absences import masked_places
from pages.ui.words.say import say

SECTIONS = {
    "relations": relations.show,
    "heads": heads.show,
    "one_head": one_head.show,
    "sentences": sentences.show,
    "parsers": parsers.show,
    "weighing": weight_and_norm.show,
}

st.title(say("syntax.title"))
st.markdown(say("syntax.lead"))
masked_places()
view = pick(
    "sy_view",
    say("syntax.view"),
    list(SECTIONS),
    default=next(iter(SECTIONS)),
    format=lambda each: say(f"syntax.view_{each}"),
)
SECTIONS[view]()
