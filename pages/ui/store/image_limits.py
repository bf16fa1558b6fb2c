"""Why no file of images can hold a statistic: what its table needs that images lack."""

from collections.abc import Iterable

from analysis.needs import OF_TEXTS
from analysis.tables.table import Table


def what_images_lack(tables: Iterable[Table]) -> str | None:
    """What an image lacks for any of the tables, as the catalogue calls it; None if nothing."""
    return next((need for table in tables for need in table.needs if need in OF_TEXTS), None)
