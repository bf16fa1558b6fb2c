"""Whether the open file has dependency trees, and what to do where it has none."""

from analysis.tables import annotation
from analysis.tables.probing import dependency_accuracy
from analysis.tables.table import Table
from pages.ui.store.chosen import open_store, require
from pages.ui.store.no_annotation import stop_without_annotation
from pages.ui.words.say import plain, say


def require_trees(*tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics.

    A corpus without trees needs another remedy: no statistic that is added to its file would help.
    """
    store = open_store()
    if has_trees():
        require(*tables)
        return
    stop_without_annotation(
        say("syntax.no_trees", name=plain(store.name), corpus=plain(store.run["corpus"])),
        say("syntax.no_trees_remedy"),
        table=tables[0],
    )


def has_trees() -> bool:
    """Whether the corpus of the chosen file has annotated words, and predictions could be made."""
    words = open_store().rows.get(annotation.WORDS.name)
    return bool(words) and not computed_to_nothing(dependency_accuracy.TABLE)


def computed_to_nothing(table: Table) -> bool:
    """Whether a statistic was asked for when the file was made and found nothing to count."""
    store = open_store()
    return table.name in list(store.run["statistics"]) and not store.rows.get(table.name)
