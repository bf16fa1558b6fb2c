"""What is in this file, what it says at a glance, and can it be trusted?"""

import streamlit as st

from pages.overview.file_account import corpus, holdings, making, other_files, soundness
from pages.overview.glance import findings
from pages.overview.pictures import pictures, size_of_images
from pages.ui.choices.links import link_to_view
from pages.ui.store.absences import absences
from pages.ui.store.chosen import open_store, shows_images
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say


def headline() -> None:
    store = open_store()
    run = store.run
    st.title(say("overview.headline", model=plain(store.model_name)), anchor=False)
    numbers = {name: count(run[name]) for name in ("n_sequences", "n_tokens", "hidden_size")}
    shape = {name: run[name] for name in ("n_layers", "n_heads")}
    told = {"corpus": plain(run["corpus"]), **numbers, **shape}
    st.markdown(size_of_images(told) if shows_images() else say("overview.size", **told))
    absences()


def glance() -> None:
    """The findings, two to a row."""
    found = findings()
    if not found:
        return
    st.header(say("overview.glance"), anchor=False)
    for start in range(0, len(found), 2):
        for cell, finding in zip(st.columns(2), found[start : start + 2], strict=False):
            with cell.container(border=True, height="stretch"):
                st.caption(finding.label)
                st.subheader(finding.number, anchor=False)
                st.markdown(finding.sentence)
                label = say(f"finding.link_{finding.view}")
                link_to_view(finding.page, finding.view, label)
    st.caption(say("overview.glance_caption"))


headline()
pictures()
glance()
soundness()
corpus()
holdings()
making()
other_files()
