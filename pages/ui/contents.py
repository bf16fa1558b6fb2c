"""Registry of all pages, with their translated titles."""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.choices.links import CONTENTS, PREFIXES, address
from pages.ui.words.say import say

PAGES = {page: page.replace("_", "-") for page in PREFIXES} | {"overview": ""}
"""The address of every page."""
_FOLDER = Path(__file__).parents[1]


def contents(links: Any) -> Any:
    """Return the page that the address names; draw links to all pages into the container.

    The links keep the file and the language, which the built-in menu would drop.
    """
    pages = [
        st.Page(
            _FOLDER / name / "page.py",
            title=say(f"page.{name}.title"),
            url_path=path or name,
            help=say(f"page.{name}.help"),
            default=not path,
        )
        for name, path in PAGES.items()
    ]
    st.session_state[CONTENTS] = list(PAGES)
    links.markdown("### Mixscope")
    for page in pages:
        links.page_link(page, query_params=address())
    return st.navigation(pages, position="hidden")
