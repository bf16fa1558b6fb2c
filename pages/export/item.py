"""One collected item: a figure, table or text of this session, with its data and its origin."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pandas as pd

MOST_ROWS = 500
"""Row limit of a collected table or text."""
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Item:
    """A figure, a table or a text.

    Attributes:
        question: that it answers; plain text, like all texts here.
        link: the address of the view; empty if unknown.
        version: of Mixscope, that showed it.
        papers: keys of those behind it.
        chart: Vega-Lite with its data inside; empty unless it is a figure.
        body: markup, clean; empty unless it is a text.
        columns: of a table, or of the numbers of a text.
        rows: at most `MOST_ROWS`.
        n_rows: number of rows before the cut.
        note: of who collected it.
    """

    question: str
    finding: str
    caption: str
    source: str
    link: str
    version: str
    papers: tuple[str, ...] = ()
    chart: dict[str, Any] | None = None
    body: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    n_rows: int = 0
    note: str = ""

    @property
    def key(self) -> str:
        """Identifier of the item in a collection."""
        return sha256(f"{self.link} {self.question}".encode()).hexdigest()[:12]

    @property
    def frame(self) -> pd.DataFrame:
        """Rows of a table."""
        return pd.DataFrame(list(self.rows), columns=list(self.columns))


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Convert a frame to `columns`, `rows` and `n_rows` of an item."""
    cut = json.loads(
        frame.head(MOST_ROWS).to_json(orient="split", date_format="iso", double_precision=15)
    )
    return {
        "columns": tuple(map(str, frame)),
        "rows": tuple(tuple(map(_cell, row)) for row in cut["data"]),
        "n_rows": len(frame),
    }


def _cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else json.dumps(value, ensure_ascii=False)
