"""Entries of the page Methods: a statistic with its formulas and tables, or what all share.

Formulas stand in each page's `formulas.toml`, since mathematics needs no translation; the words of
an entry are `method.NAME.title` and `method.NAME.text`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.contracts import every_table
from analysis.statistics.base.tables import Table
from pages.kit.contents import PAGES

_FOLDER = Path(__file__).parents[1]
_FILE = "formulas.toml"
GENERAL = "methods"
"""Page of the entries that are of no statistic."""


@dataclass(frozen=True)
class Method:
    """An entry: the tables of a statistic, formulas in LaTeX, and the page that it belongs to."""

    tables: tuple[Table, ...]
    formulas: tuple[str, ...]
    page: str


@cache
def methods() -> dict[str, Method]:
    """Entries by name: those of no statistic first, then page by page, as in the contents."""
    tables = {table.name: table for table in every_table()}
    return {
        name: Method(
            tuple(tables[table] for table in entry.get("tables", ())),
            tuple(entry.get("formulas", ())),
            page,
        )
        for page in (GENERAL, *(page for page in PAGES if page != GENERAL))
        for name, entry in mathematics(page).items()
    }


def mathematics(page: str) -> dict[str, Any]:
    """Content of a page's file of formulas; empty if it has none."""
    path = _FOLDER / page / _FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
