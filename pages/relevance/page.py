"""Where relevance carried back to the input goes (Sawaki and Murata 2025)."""

import streamlit as st

from pages.relevance import corpus, methods, over_image, text
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import open_store, shows_images
from pages.ui.words.say import say

OF_IMAGES = {"map": over_image.show, "methods": methods.show, "corpus": corpus.show}
OF_TEXTS = {"text": text.show, "methods": methods.show, "corpus": corpus.show}
SECTIONS = OF_IMAGES | OF_TEXTS


def lead() -> str:
    """What is asked of the open file's model."""
    if not shows_images():
        return say("relevance.lead_text")
    without_cls = open_store().facts["relevance_start"] == "patches"
    return say("relevance.lead_patches" if without_cls else "relevance.lead")


st.title(say("relevance.title"))
st.markdown(lead())
sections = OF_IMAGES if shows_images() else OF_TEXTS
view = pick(
    "re_view",
    say("relevance.view"),
    list(sections),
    default=next(iter(sections)),
    format=lambda each: say(f"relevance.view_{each}"),
)
sections[view]()
