"""What a file says at a glance: sentences with their numbers, each with a place that shows more."""

from pages.ui.collected import collected
from pages.ui.finding import Finding
from pages.ui.store.chosen import open_store, shows_images


def findings() -> list[Finding]:
    """Those of all pages that the open file has the statistics for; of images what is relevant
    comes first."""
    rows = open_store().rows
    modules = list(collected("findings"))
    if shows_images():
        modules.sort(key=lambda each: each.__name__ != "pages.relevance.findings")
    finders = [pair for each in modules for pair in each.FINDERS.items()]
    return [finding for table, found in finders if rows.get(table) for finding in found()]
