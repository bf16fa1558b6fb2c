"""The pages there are, under their translated titles, and what all of them offer."""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.choices.links import CONTENTS, PREFIXES, address
from pages.ui.words.say import say

PAGES = {page: page.replace("_", "-") for page in PREFIXES} | {"overview": ""}
"""The address of every page."""
_FOLDER = Path(__file__).parents[1]


def contents(links: Any) -> Any:
    """The page that the address names; links to all pages are drawn into the container.

    The links carry the file and the language along, which the built-in menu would drop.
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
