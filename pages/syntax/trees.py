"""Whether the open file has dependency trees, and what to do where it has none."""

import streamlit as st

from analysis.tables import annotation
from analysis.tables.probing import dependency_accuracy, parser_accuracy
from analysis.tables.table import Table
from pages.ui.choices.address import stop
from pages.ui.store.chosen import open_store
from pages.ui.store.missing import require
from pages.ui.store.no_annotation import stop_without_annotation
from pages.ui.words.say import plain, say


def require_trees(*tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics.

    A corpus without trees, or with too few of them, needs another remedy: no statistic that is
    added to its file would help.
    """
    if not open_store().holds(annotation.WORDS) or _found_nothing(dependency_accuracy.TABLE):
        stop_without_annotation("syntax.no_trees", "syntax.no_trees_remedy", tables[0])
    if parser_accuracy.TABLE in tables and _found_nothing(parser_accuracy.TABLE):
        st.info(say("syntax.parsers.too_few", name=plain(open_store().name)))
        stop()
    require(*tables)


def _found_nothing(table: Table) -> bool:
    """Whether a statistic was asked for when the file was made and found nothing to count."""
    store = open_store()
    return table.name in list(store.run["statistics"]) and not store.holds(table)
