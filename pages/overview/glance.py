"""What a file says at a glance: sentences with their numbers, each with a place that shows more."""

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

import streamlit as st

from pages.ui.contents import PAGES
from pages.ui.finding import Finding
from pages.ui.store.chosen import open_store, shows_images
from pages.ui.store.open_file import Version
from pages.ui.words.say import Language
from pages.ui.words.say import language as said_in


def findings() -> list[Finding]:
    """Those of all pages that the open file has the statistics for, the clearest first; those of
    which it is not known how sure they are come last, of images what is relevant before others."""
    return _findings(open_store().version, said_in())


@st.cache_data(max_entries=64, show_spinner=False)
def _findings(version: Version, language: Language) -> list[Finding]:
    rows = open_store().rows
    pages = [page for page in PAGES if find_spec(f"pages.{page}.findings")]
    if shows_images():
        pages.sort(key=lambda page: page != "relevance")
    results = [
        replace(finding, page=page)
        for page in pages
        for table, find in import_module(f"pages.{page}.findings").FINDERS.items()
        if rows.get(table)
        for finding in find()
    ]
    return sorted(results, key=lambda finding: -finding.strength if finding.strength > 0 else 1.0)
