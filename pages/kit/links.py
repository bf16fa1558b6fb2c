"""Links between pages that keep the file and the language."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.kit.address import named, parameters
from pages.words.say import plain, say

CONTENTS = "pages in the contents"
SHOWN = "page of the contents that is shown"
PREFIXES = {
    "overview": "",
    "papers": "",
    "norms": "an",
    "habits": "hh",
    "sinks": "si",
    "positions": "po",
    "head": "he",
    "layer_mixing": "lm",
    "token_pairs": "tp",
    "syntax": "sy",
    "coreference": "co",
    "head_map": "hm",
    "relevance": "re",
    "sequences": "seq",
    "compare": "cmp",
    "query": "qu",
    "report": "",
    "methods": "",
}
"""All pages in the order of the contents, and how the names of their choices in the address begin;
empty where a page has no sections."""
VIEWS = {page: f"{prefix}_view" for page, prefix in PREFIXES.items() if prefix}
"""The parameter of the address that names the section of a page."""
RENAMED = {"attention-norms": "norms", "head-habits": "habits"}
"""Pages by their older addresses, for one version."""
MOVED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("norms", "head"): ("head", "tokens"),
    ("habits", "one_head"): ("head", "profile"),
    ("sinks", "texts"): ("head", "tokens"),
    ("positions", "one_head"): ("head", "waves"),
    ("syntax", "one_head"): ("head", "words"),
}
"""Pages and sections of older addresses that are sections of another page, for one version."""


def current_place(page: str, query: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Return the page and the parameters that an older address means now.

    Args:
        page: its address, without a slash.
        query: names and values of its parameters; all are kept, those of a section that moved
            under the prefix of its new page.
    """
    page = RENAMED.get(page, page)
    view = dict(query).get(VIEWS.get(page, ""), "")
    if (page, view) not in MOVED:
        return page, list(query)
    new, section = MOVED[page, view]
    before, after = f"{PREFIXES[page]}_", f"{PREFIXES[new]}_"
    heads = (f"{before}head", f"{before}layer")  # the head of addresses that are older still
    kept = [
        (
            name
            if name in heads or not name.startswith(before)
            else after + name.removeprefix(before),
            value,
        )
        for name, value in query
        if name != VIEWS[page]
    ]
    return new, [*kept, (VIEWS[new], section)]


def link(page: str, label: str, **choices: Any) -> None:
    """Draw a link to a place on a page; plain text if the page is not in the contents."""
    if page in st.session_state.get(CONTENTS, ()):
        st.page_link(f"{page}/page.py", label=f"→ {label}", query_params=address() | choices)
    else:
        st.caption(label)


def link_to_file(name: str) -> None:
    """Draw a link to what the address shows, in another file."""
    kept = {key: names for key, names in parameters().items() if key != "content"}
    link(st.session_state.get(SHOWN, ""), plain(name), **kept | {"file": name, "content": []})


def link_to_view(page: str, view: str, label: str, **choices: str) -> None:
    """Draw a link to a section of a page."""
    link(page, label, **{VIEWS[page]: view}, **choices)


def link_to_sequence(seq: int, *, token: int | None = None, **choices: str) -> None:
    """Draw a link to the page on one sequence of the open file, and to one of its tokens.

    Args:
        token: its position, counted from 0.
        choices: further ones of that page.
    """
    place = {} if token is None else {"seq_token": str(token)}
    link("sequences", say("page.look_into", seq=seq), seq_seq=str(seq), **place, **choices)


def address(*more: str) -> dict[str, str]:
    """Parameters of the address that all pages share, and `more`, if they were chosen."""
    keys = ("file", "content", "lang", "head", *more)
    return {key: names[0] for key in keys if (names := named(key))}
