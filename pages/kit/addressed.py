"""Figures of all pages by their addresses."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from pages.export.collection import Kept, place_of
from pages.export.item import Item, item_of
from pages.kit.links import VIEWS
from pages.kit.sections import page_of, section_of
from pages.kit.source import Given
from pages.services.chosen import chosen_file, readable, speak_of_file, stores
from pages.services.folder import files
from pages.services.open_file import Store, version_of
from pages.words.say import language, say

_RECORDED, _MOST = "items by their addresses", 120


def item_at(kept: Kept) -> Item:
    """Return the content of an address as it is now, or in its place the reason for its absence.

    It is recorded once in a session, until a file of the folder changes.
    """
    recorded: dict[object, Item] = st.session_state.setdefault(_RECORDED, {})
    key = kept.address, language(), tuple(version_of(path) for path in files())
    if key not in recorded:
        place, item = st.empty(), None
        with place.container(), suppress(StopException):  # notices of a model that runs
            item = _item(kept.address)
        place.empty()
        recorded[key] = item or _absent(kept.address, say("collection.not_shown"))
        for old in list(recorded)[:-_MOST]:
            del recorded[old]
    return replace(recorded[key], note=kept.note)


def _item(address: str) -> Item:
    page, choices, name = place_of(address) or ("", {}, "")
    [file], [content] = choices.get("file", [""])[:1], choices.get("content", [""])[:1]
    store = next((store for store in stores() if store.name == file), None)
    if store is None:
        return _absent(address, say("collection.no_file", file=file))
    if content not in ("", store.content):
        return _absent(address, say("collection.other_content", file=file))
    stem = choices.get(VIEWS.get(page, ""), [""])[0]
    if all(part.name != stem for part in page_of(page).sections):
        return _absent(address, say("collection.not_shown"))
    speak_of_file(store)
    try:
        section = section_of(store, page, stem)
        shown = page_of(page).content(section, store, Given(choices), name)
        return _absent(address, shown) if isinstance(shown, str) else item_of(shown, address)
    finally:
        open_now = readable(path) if (path := chosen_file()) else None
        if isinstance(open_now, Store):
            speak_of_file(open_now)


def _absent(address: str, reason: str) -> Item:
    return Item(question=address.partition("#")[0], finding=reason, address=address)
