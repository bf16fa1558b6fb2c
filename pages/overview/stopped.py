"""Where a run stopped that was to stop by itself."""

import streamlit as st

from pages.ui.store.chosen import open_store
from pages.ui.words.numbers import count
from pages.ui.words.say import say


def stopped() -> None:
    """A line on how wide the widest interval was, if that was to end the run."""
    store = open_store()
    until = store.facts.get("until", "none")
    if until != "none":
        values = {"until": until, "widest": store.facts.get("widest_interval", "none")}
        st.caption(say("overview.stopped", n=count(store.run["n_sequences"]), **values))
