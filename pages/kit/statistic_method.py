"""Method of each statistic: its formulas, its tables, and the section that shows it.

Formulas stand in each page's `formulas.toml`, since mathematics needs no translation.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.contracts import every_table
from analysis.statistics.table import Table
from pages.kit.contents import PAGES

_FOLDER = Path(__file__).parents[1]
_FILE = "formulas.toml"


@dataclass(frozen=True)
class Method:
    """A statistic's formulas in LaTeX, its tables, and the section of a page that shows it."""

    tables: tuple[Table, ...]
    formulas: tuple[str, ...]
    page: str
    view: str


@cache
def methods() -> dict[str, Method]:
    """Methods of all pages by name, in the order of the contents."""
    tables = {table.name: table for table in every_table()}
    return {
        name: Method(
            tuple(tables[table] for table in entry["tables"]),
            tuple(entry["formulas"]),
            page,
            entry["view"],
        )
        for page in PAGES
        if page != "methods"
        for name, entry in mathematics(page).items()
    }


def mathematics(page: str) -> dict[str, Any]:
    """Content of a page's file of formulas; empty if it has none."""
    path = _FOLDER / page / _FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
