"""Whether the open file has mentions, and what to do where it has none."""

from analysis.tables.table import Table
from pages.ui.store.chosen import open_store, require
from pages.ui.store.no_annotation import stop_without_annotation
from pages.ui.words.say import plain, say


def require_mentions(*tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics.

    No statistic that is added to a file would help where its corpus has no coreference.
    """
    store = open_store()
    if store.rows.get("mention"):
        require(*tables)
        return
    stop_without_annotation(
        say("coreference.no_mentions", name=plain(store.name), corpus=plain(store.run["corpus"])),
        say("coreference.no_mentions_remedy"),
        table=tables[0],
    )
