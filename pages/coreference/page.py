"""Which heads find antecedents, and how they do against simple rules (Clark et al. 2019)."""

import streamlit as st

from pages.coreference import documents, heads, rules, weight_and_norm
from pages.ui.choices.pick import pick
from pages.ui.store.absences import masked_places
from pages.ui.words.say import say

SECTIONS = {
    "rules": rules.show,
    "heads": heads.show,
    "documents": documents.show,
    "weighing": weight_and_norm.show,
}

st.title(say("coreference.title"))
st.markdown(say("coreference.lead"))
masked_places()
view = pick(
    "co_view",
    say("coreference.view"),
    list(SECTIONS),
    default=next(iter(SECTIONS)),
    format=lambda each: say(f"coreference.view_{each}"),
)
SECTIONS[view]()
