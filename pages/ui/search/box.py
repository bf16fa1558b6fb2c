"""The box in the sidebar, and what it found below it."""

from typing import Any

import streamlit as st

from pages.ui.choices.address import LONGEST_TEXT
from pages.ui.choices.links import link
from pages.ui.search.places import places
from pages.ui.store.chosen import chosen_file, readable
from pages.ui.store.open_file import Store
from pages.ui.words.say import say

_BOX = "search"


def search_box(room: Any) -> None:
    """A line to type in, and links to what is called so; nothing where no file can be read."""
    path = chosen_file()
    if path is None or not isinstance(readable(path), Store):
        return
    with room:
        wanted = st.text_input(
            say("search.label"),
            key=_BOX,
            placeholder=say("search.hint"),
            help=say("search.help"),
            label_visibility="collapsed",
        )
        matches = places(wanted[:LONGEST_TEXT])
        for place in matches:
            link(place.page, place.label, **place.choices)
            if place.text:
                st.caption(place.text)
        if wanted.strip() and not matches:
            st.caption(say("search.none"))
