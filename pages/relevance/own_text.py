"""A text of the reader's own, run through the model that made the open file."""

import hashlib

import streamlit as st

from pages.relevance.token_maps import TokenMaps, computed
from pages.ui.live import door as live
from pages.ui.words.say import say

_KEY = "re_own_text"


def own_text() -> TokenMaps | None:
    """A box to type in, and the maps of what was typed; None where there are none yet."""
    with st.form("re_own_form", border=False):
        text = live.text_box(
            say("relevance_text.own"), key=_KEY, help=say("relevance_text.own_help")
        )
        st.form_submit_button(say("relevance_text.own_start"), type="primary")
    if not text or not live.reachable():
        return None
    found = live.relevance_of_text(text)
    if found is None:
        return None
    if found.is_cut:
        st.caption(say("relevance_text.own_cut", n=len(found.tokens)))
    return computed(found, hashlib.sha256(text.encode()).hexdigest()[:12])
