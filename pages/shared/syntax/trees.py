"""Whether the open file has dependency trees, and what to do where it has none."""

import streamlit as st

from analysis.tables import annotation, dependency_accuracy
from analysis.tables.table import Table
from pages.shared.store import files_with, open_store, require
from pages.shared.words import plain, say

_COMMAND = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)


def require_trees(*tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics.

    A corpus without trees needs another remedy: no statistic that is added to its file would help.
    """
    store = open_store()
    if has_trees():
        require(*tables)
        return
    st.info(say("syntax.no_trees", name=plain(store.name), corpus=plain(store.run["corpus"])))
    others = [plain(each.name) for each in files_with(tables[0])]
    if others:
        st.markdown(say("store.others_have", names=", ".join(others)))
    st.markdown(say("syntax.no_trees_remedy"))
    st.code(_COMMAND, language="bash", wrap_lines=True)
    st.stop()


def has_trees() -> bool:
    """Whether the corpus of the chosen file has annotated words, and predictions could be made."""
    words = open_store().rows.get(annotation.WORDS.name)
    return bool(words) and not computed_to_nothing(dependency_accuracy.TABLE)


def computed_to_nothing(table: Table) -> bool:
    """Whether a statistic was asked for when the file was made and found nothing to count."""
    store = open_store()
    return table.name in list(store.run["statistics"]) and not store.rows.get(table.name)
