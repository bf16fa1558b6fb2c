"""The run that made the open file: what it still adds, or where it stopped by itself."""

from pathlib import Path

import streamlit as st

from pages.ui.store.chosen import open_store
from pages.ui.store.note import note_beside
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_SECONDS_BETWEEN_LOOKS = 5.0


def still_computing() -> None:
    """A line on how far the run is, if there is one; the page is drawn anew when it ends."""
    path = open_store().version.path
    if note_beside(Path(path)) is not None:
        _watch(path)


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def _watch(path: str) -> None:
    note = note_beside(Path(path))
    if note is None:
        st.rerun()
    key = "overview.computing" if note.n_done < note.n_sequences else "overview.merging"
    st.caption(say(key, done=note.n_done, total=note.n_sequences, n=note.n_statistics))


def stopped() -> None:
    """A line on how wide the widest interval was, if that was to end the run."""
    store = open_store()
    until = store.facts.get("until", "none")
    if until != "none":
        values = {"until": until, "widest": store.facts.get("widest_interval", "none")}
        st.caption(say("overview.stopped", n=count(store.run["n_sequences"]), **values))
