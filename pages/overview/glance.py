"""What a file says at a glance: sentences with their numbers, each with a place that shows more."""

from pages.ui.collected import collected
from pages.ui.finding import Finding
from pages.ui.store.chosen import open_store


def findings() -> list[Finding]:
    """Those of all pages that the open file has the statistics for, the clearest first; those of
    which it is not known how sure they are come last."""
    rows = open_store().rows
    finders = [pair for each in collected("findings") for pair in each.FINDERS.items()]
    found = [each for table, find in finders if rows.get(table) for each in find()]
    return sorted(found, key=lambda each: -each.strength if each.strength > 0 else 1.0)
