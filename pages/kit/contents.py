"""Registry of all pages, with their translated titles."""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.kit.links import CONTENTS, PREFIXES, SHOWN, address
from pages.words.say import say

PAGES = {page: page.replace("_", "-") for page in PREFIXES} | {"overview": ""}
"""The address of every page."""
GROUPS = {
    "": ("overview", "papers"),
    "attention": ("norms", "habits", "sinks", "positions", "head"),
    "layers": ("layer_mixing", "token_pairs"),
    "probes": ("syntax", "coreference", "head_map", "relevance"),
    "work": ("sequences", "compare", "query", "report", "methods"),
}
"""Pages of the contents by group, in their order; the first group has no heading."""
_FOLDER = Path(__file__).parents[1]


def contents(links: Any) -> Any:
    """Return the page that the address names; draw links to all pages into the container.

    The links keep the file and the language, which the built-in menu would drop.
    """
    pages = {
        name: st.Page(
            _FOLDER / name / "page.py",
            title=say(f"page.{name}.title"),
            url_path=path or name,
            help=say(f"page.{name}.help"),
            default=not path,
        )
        for name, path in PAGES.items()
    }
    st.session_state[CONTENTS] = list(PAGES)
    links.markdown("### Mixscope")
    for group, names in GROUPS.items():
        if group:
            links.caption(say(f"contents.{group}"))
        for name in names:
            links.page_link(pages[name], query_params=address())
    shown = st.navigation(list(pages.values()), position="hidden")
    st.session_state[SHOWN] = next(name for name in PAGES if pages[name] == shown)
    return shown
