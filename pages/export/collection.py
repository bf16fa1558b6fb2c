"""Collection of one reader: addresses with notes, in order, kept by the reader's browser."""

import json
from dataclasses import asdict, dataclass, replace
from html import escape
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

import streamlit as st

from pages.export.shown import Shown
from pages.kit.address import link_here
from pages.kit.links import PREFIXES, VIEWS, current_place
from pages.words.say import say

MOST_ITEMS = 60
LONGEST_TITLE, LONGEST_NOTE, LONGEST_ADDRESS = 120, 2_000, 8_000  # letters
LARGEST_FILE = 1_000_000  # letters
_LONGEST_SQL = 4_000  # letters of the reader's own SQL, percent-encoded, in an address
_KEY, _TOLD = "what was collected", "collection of the browser"
_OF_THE_READER = ("lang", "present", "slide")
"""Parameters of an address that are not of the figure."""
_PAGES = {page.replace("_", "-"): page for page in PREFIXES}


@dataclass(frozen=True)
class Kept:
    """A figure, table or text that was collected: the address that shows it, and a note."""

    address: str
    note: str = ""


@dataclass(frozen=True)
class Collection:
    """Items in order under a title."""

    title: str = ""
    items: tuple[Kept, ...] = ()

    @property
    def is_full(self) -> bool:
        return len(self.items) >= MOST_ITEMS

    def with_item(self, item: Kept) -> "Collection":
        """Return the collection with one more item at the end, unless it is there already."""
        if self.is_full or item.address in {other.address for other in self.items}:
            return self
        return replace(self, items=(*self.items, item))

    def without(self, place: int) -> "Collection":
        return replace(self, items=(*self.items[:place], *self.items[place + 1 :]))

    def noted(self, place: int, note: str) -> "Collection":
        items = list(self.items)
        items[place] = replace(items[place], note=note)
        return replace(self, items=tuple(items))

    def moved(self, place: int, to: int) -> "Collection":
        """Return the collection with one item moved; places are counted from 0."""
        items = list(self.items)
        items.insert(to, items.pop(place))
        return replace(self, items=tuple(items))

    def written(self) -> str:
        """Return the collection as text, for a file and for the browser."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read(text: str) -> Collection:
    """Read a collection; what is no address of a figure is left out.

    Raises:
        ValueError: if the text is no collection.
    """
    try:
        given = json.loads(text[:LARGEST_FILE])
        collection = Collection(str(given["title"])[:LONGEST_TITLE])
        for item in given["items"]:
            if place_of(str(item["address"])):
                kept = Kept(str(item["address"]), str(item.get("note", ""))[:LONGEST_NOTE])
                collection = collection.with_item(kept)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("no collection") from error
    return collection


def address_of(shown: Shown) -> str:
    """Address of what a section shows: page, choices and name, without server and language."""
    page, stem = shown.place
    choices = parse_qs(urlsplit(link_here()).query)
    choices = {name: of for name, of in choices.items() if name not in _OF_THE_READER}
    query = urlencode({VIEWS[page]: stem} | choices, doseq=True)
    return f"{page.replace('_', '-')}?{query}#{shown.name}"


def place_of(address: str) -> tuple[str, dict[str, list[str]], str] | None:
    """Page, choices and name of a figure; None if it is no address of one."""
    if len(address) > LONGEST_ADDRESS:
        return None
    path, _, rest = address.partition("?")
    query, _, name = rest.partition("#")
    page, given = current_place(_PAGES.get(path, path), parse_qsl(query))
    choices = {key: [value for other, value in given if other == key] for key, _ in given}
    return (page, choices, name) if page in VIEWS and VIEWS[page] in choices else None


def collected() -> Collection:
    """Collection of this session's reader."""
    return st.session_state.get(_KEY, Collection())


def keep(collection: Collection) -> None:
    st.session_state[_KEY] = collection


def exchange() -> None:
    """Hand the collection to the script of the page, which keeps it in the browser, and take it.

    A session that has heard of none yet says nothing, and is told what the browser keeps.
    """
    with st.sidebar.container(key="kept"):
        st.text_input("collection", key=_TOLD, live=True, on_change=_told)
        text = st.session_state[_KEY].written() if _KEY in st.session_state else ""
        st.html(f'<span data-kept="{escape(text)}"> </span>')


def _told() -> None:
    """Take the collection that the browser keeps; a time precedes it."""
    try:
        keep(read(st.session_state[_TOLD].partition(" ")[2]))
    except ValueError:
        keep(Collection())


def collect_button(shown: Shown) -> None:
    """Draw a button that adds the content to the reader's collection."""
    is_long = len(quote(shown.asked.own)) > _LONGEST_SQL
    word = "full" if collected().is_full else "too_long" if is_long else "collect_help"
    st.button(
        say("collection.collect"),
        key=f"{shown.key}-collect",
        type="tertiary",
        disabled=word != "collect_help",
        help=say(f"collection.{word}"),
        on_click=_collect,
        args=(shown,),
    )


def _collect(shown: Shown) -> None:
    before = collected()
    keep(before.with_item(Kept(address_of(shown))))
    word = "known" if collected() == before else "collected"
    st.toast(say(f"collection.{word}", n=len(collected().items)))
