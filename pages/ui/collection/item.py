"""One collected item: a figure, table or text with its data and its origin.

An item holds its own data, so that it looks the same without its file. A collection may come from
anyone: everything is checked on reading, and active or external content is refused.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from reprlib import repr as brief
from typing import Any

import pandas as pd
from jsonschema import Draft202012Validator

from analysis.sources import PAPERS
from pages.ui.collection.chart import faults
from pages.ui.collection.markup import LONGEST, clean, fault_of

MOST_ROWS = 500
"""Row limit of a collected table or text."""
_MOST_COLUMNS = 256
_LONGEST, _BRIEF = 20_000, 200  # letters of a text, and of why it is refused
Cell = str | int | float | bool | None
_TEXT = {"type": "string", "maxLength": _LONGEST}
_FIELDS: dict[str, dict[str, Any]] = {
    "question": _TEXT,
    "finding": _TEXT,
    "caption": _TEXT,
    "source": _TEXT,
    "link": _TEXT | {"pattern": r"^(https?://|\?|$)"},
    "version": _TEXT,
    "papers": {"type": "array", "items": {"enum": list(PAPERS)}},
    "chart": {"type": ["object", "null"]},
    "body": {"type": "string", "maxLength": LONGEST},
    "columns": {"type": "array", "maxItems": _MOST_COLUMNS, "items": _TEXT},
    "rows": {"type": "array", "maxItems": MOST_ROWS, "items": {"type": "array"}},
    "n_rows": {"type": "integer", "minimum": 0},
    "note": _TEXT,
}
_CHECKED = Draft202012Validator(
    {
        "type": "object",
        "properties": _FIELDS,
        "required": list(_FIELDS),
        "additionalProperties": False,
    }
)


class NotCollected(Exception):
    """Raised if input is no collection or no item of one."""

    def __init__(self, place: str, reason: str):
        super().__init__(f"{place}: {reason}")
        self.place, self.reason = place, reason[:_BRIEF]


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


def item_from(read: Any, place: str = "item") -> Item:
    """Read an item of a collection, from any source.

    Args:
        place: name of the item in errors.

    Raises:
        NotCollected: it is no item, or refers to external content.
    """
    for fault in _CHECKED.iter_errors(read):
        path = "".join(f"[{part!r}]" for part in fault.absolute_path)
        message = fault.message.replace(repr(fault.instance), brief(fault.instance))
        raise NotCollected(f"{place}{path}", message)
    for number, row in enumerate(read["rows"]):
        if len(row) != len(read["columns"]) or not all(isinstance(cell, Cell) for cell in row):
            reason = "is no row of a text, a number or nothing for each column"
            raise NotCollected(f"{place}['rows'][{number}]", reason)
    if reason := fault_of(read["body"]):
        raise NotCollected(f"{place}['body']", reason)
    for at, reason in faults(read["chart"]) if read["chart"] is not None else ():
        raise NotCollected(f"{place}['chart']{at}", reason)
    rows = tuple(map(tuple, read["rows"]))
    tuples = {name: tuple(read[name]) for name in ("papers", "columns")}
    return Item(**{**read, **tuples, "rows": rows, "body": clean(read["body"])})
