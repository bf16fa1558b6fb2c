"""What to do where the corpus of the open file lacks what was annotated by people.

No statistic that is added to such a file would help, so the way leads to another corpus.
"""

from typing import NoReturn

import streamlit as st

from analysis.tables.table import Table
from pages.ui.store.chosen import files_with
from pages.ui.words.say import plain, say

_COMMAND = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)


def stop_without_annotation(lacking: str, remedy: str, *, table: Table) -> NoReturn:
    """Stop the page: what is lacking, which files of the folder have it, how to make one.

    Args:
        table: a statistic of files that have it.
    """
    st.info(lacking)
    others = [plain(each.name) for each in files_with(table)]
    if others:
        st.markdown(say("store.others_have", names=", ".join(others)))
    st.markdown(remedy)
    st.code(_COMMAND, language="bash", wrap_lines=True)
    st.stop()
