"""Whether the open file has mentions, and what to do where it has none."""

import streamlit as st

from analysis.tables.table import Table
from pages.shared.store import files_with, open_store, require
from pages.shared.words import plain, say

_COMMAND = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)


def require_mentions(*tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics.

    No statistic that is added to a file would help where its corpus has no coreference.
    """
    store = open_store()
    if store.rows.get("mention"):
        require(*tables)
        return
    st.info(
        say("coreference.no_mentions", name=plain(store.name), corpus=plain(store.run["corpus"]))
    )
    others = [plain(each.name) for each in files_with(tables[0])]
    if others:
        st.markdown(say("store.others_have", names=", ".join(others)))
    st.markdown(say("coreference.no_mentions_remedy"))
    st.code(_COMMAND, language="bash", wrap_lines=True)
    st.stop()
