"""What to do where the corpus of the open file lacks what was annotated by people.

No statistic that is added to such a file would help, so the way leads to another corpus.
"""

from typing import NoReturn

import streamlit as st

from analysis.tables.table import Table
from pages.ui.choices.address import stop
from pages.ui.store.chosen import open_store
from pages.ui.store.missing import name_files_with
from pages.ui.words.say import plain, say

_COMMAND = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)


def stop_without_annotation(lacking: str, remedy: str, table: Table) -> NoReturn:
    """Stop the page: what is lacking, which files of the folder have it, how to make one.

    Args:
        lacking, remedy: the keys of what is lacking and of what to do.
        table: a statistic of files that have it.
    """
    store = open_store()
    st.info(say(lacking, name=plain(store.name), corpus=plain(store.run["corpus"])))
    name_files_with(table)
    st.markdown(say(remedy))
    st.code(_COMMAND, language="bash", wrap_lines=True)
    stop()
