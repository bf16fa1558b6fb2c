"""Search box for pages, sections, statistics, heads, tokens, pairs, texts and terms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any

import streamlit as st

from analysis.contracts import every_table
from analysis.statistics import corpus
from analysis.statistics.pairs import pair
from pages.kit.address import LONGEST_TEXT
from pages.kit.contents import PAGES
from pages.kit.head_choice import HEAD, head_name
from pages.kit.links import VIEWS, link
from pages.kit.statistic_method import methods
from pages.services.chosen import chosen_file, readable
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.contracts import digest, japanese
from pages.words.numbers import count
from pages.words.say import catalogue, plain, say

_MOST = 4  # places of one kind
_HEAD = re.compile(r"[Ll]?(\d{1,3})\s*[-–·.,:/ ]\s*[Hh]?(\d{1,3})")
_ARROW = re.compile(r"\s*(?:→|->|\s)\s*")
_LEAST = 3  # letters of a search for texts
_BEFORE, _AFTER = 20, 50  # letters of a text around a match


@dataclass(frozen=True)
class Place:
    """A place in the dashboard.

    Attributes:
        label: in markdown.
        page: its folder.
        choices: parameters of its address.
        text: shown below its link.
    """

    label: str
    page: str
    choices: dict[str, str] = field(default_factory=dict)
    text: str = ""


def search_box(room: Any) -> None:
    """Draw the search box, with links to the matches; nothing if no file can be read."""
    path = chosen_file()
    store = path and readable(path)
    if not isinstance(store, Store):
        return
    with room:
        wanted = st.text_input(
            say("search.label"),
            key="search",
            placeholder=say("search.hint"),
            help=say("search.help"),
            label_visibility="collapsed",
        )
        matches = _places(Inquiry(store), wanted[:LONGEST_TEXT].strip())
        for place in matches:
            link(place.page, place.label, **place.choices)
            if place.text:
                st.caption(place.text)
        if wanted.strip() and not matches:
            st.caption(say("search.none"))


def _places(inquiry: Inquiry, text: str) -> list[Place]:
    """Matches of every kind, the most specific kind first."""
    heads, pairs, tokens, texts = (
        partial(find, inquiry) for find in (_heads, _pairs, _tokens, _texts)
    )
    kinds = (heads, pairs, _sections, _statistics, tokens, _terms, texts) if text else ()
    return [place for find in kinds for place in islice(find(text), _MOST)]


def _heads(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Heads of the form 3-5 or L3·H5."""
    match = _HEAD.fullmatch(text)
    if not match:
        return
    layer, head = int(match[1]), int(match[2])
    run = inquiry.store.run
    if layer in inquiry.store.layers and 1 <= head <= run["n_heads"]:
        place = {VIEWS["head"]: "profile", HEAD: f"{layer}-{head}"}
        yield Place(head_name(layer, head), "head", place)


def _sections(text: str) -> Iterator[Place]:
    """Pages and sections by their titles, in either language."""
    for page in PAGES:
        title = say(f"page.{page}.title")
        if _says(f"page.{page}.title", text):
            yield Place(title, page)
        for key in catalogue():
            stem = key.removeprefix(f"{page}.view_")
            if page in VIEWS and stem != key and _says(key, text):
                yield Place(f"{title}: {say(key)}", page, {VIEWS[page]: stem})


def _statistics(text: str) -> Iterator[Place]:
    """Sections whose statistics have this in a title, a name, a column or their explanation.

    Tables that no section shows are found in the documentation beside the query.
    """
    said, best = _plain(text), {}
    for rank, words, name in _index():
        if said in words:
            best[name] = min(rank, best.get(name, rank))
    for name in sorted(best, key=best.__getitem__):
        if method := methods().get(name):
            title = say(f"method.{name}.title")
            view = {VIEWS[method.page]: method.view} if method.view else {}
            yield Place(title, method.page, view)
        else:
            yield Place(f"`{name}`", "query", {VIEWS["query"]: "ask", "qu_of": name})


@cache
def _index() -> list[tuple[int, str, str]]:
    """Rank, words and name of everything that is said of a statistic, or of another view."""
    shown = {table.name: name for name, of in methods().items() for table in of.tables}
    entries = []
    for name in methods():
        entries += [(0, text, name) for text in catalogue()[f"method.{name}.title"].values()]
        entries += [(3, text, name) for text in catalogue()[f"method.{name}.text"].values()]
    for table in every_table():
        for view in table.all_views:
            name = shown.get(table.name, view.name)
            entries += [(1, text, name) for text in (table.name, view.name)]
            for column in view.columns:
                titles = catalogue().get(f"column.{column.name}", {}).values()
                entries += [(2, text, name) for text in (column.name, *titles)]
                meanings = column.meaning, japanese().get(digest(column.meaning), "")
                entries += [(3, text, name) for text in meanings]
    return [(rank, _plain(text), name) for rank, text, name in entries]


def _plain(text: str) -> str:
    return text.casefold().replace("_", " ")


def _terms(text: str) -> Iterator[Place]:
    """Terms of the glossary, with their meaning."""
    for key in catalogue():
        name = key.removeprefix("glossary.").removesuffix(".term")
        if key == f"glossary.{name}.term" and _says(key, text):
            yield Place(say(key), "methods", text=say(f"glossary.{name}.text"))


def _tokens(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Tokens with this beginning, the most frequent first, and their pairs."""
    if inquiry.store.shows_images:
        return
    for row in inquiry.ask(corpus.tokens_from, text=text.lower(), limit=_MOST).to_dict("records"):
        label = say("search.token", token=plain(row["token"]), n=count(row["n"]))
        found = {"tp_source_text": f'"{row["token"]}"', "tp_direction": "both"}
        yield Place(label, "token_pairs", found)


def _pairs(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Two tokens of one text, at any distance."""
    parts = _ARROW.split(text)
    if len(parts) != 2 or inquiry.store.shows_images:
        return
    tokens = dict(zip(("source", "target"), parts, strict=True))
    if len(inquiry.ask(pair.look_up, **tokens)):
        label = say("search.pair", **{side: plain(token) for side, token in tokens.items()})
        yield Place(label, "token_pairs", {f"tp_{side}": token for side, token in tokens.items()})


def _texts(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Texts of the corpus that contain the words."""
    if len(text) < _LEAST:
        return
    for row in inquiry.ask(corpus.matching_sequences, text=text, limit=_MOST).to_dict("records"):
        label = say("search.text", seq=row["seq"], text=plain(_around(row["text"], text)))
        yield Place(label, "sequences", {"seq_seq": str(row["seq"])})


def _around(text: str, words: str) -> str:
    """Match in a text with some letters on both sides."""
    start = max(text.lower().find(words.lower()), 0)
    return text[max(start - _BEFORE, 0) : start + _AFTER]


def _says(key: str, text: str) -> bool:
    return any(text.casefold() in word.casefold() for word in catalogue()[key].values())
