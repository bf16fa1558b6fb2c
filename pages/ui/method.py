"""What a method is: formulas, the tables that hold the result, and the place that shows it."""

from dataclasses import dataclass

from analysis.tables.table import Table


@dataclass(frozen=True)
class Method:
    """A statistic's formulas, its tables, and the section of a page that shows it, if one does."""

    tables: tuple[Table, ...]
    formulas: tuple[str, ...]
    page: str = ""
    view: str = ""
