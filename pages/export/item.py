"""A figure, a table or a text as it leaves the page: drawn, with its numbers and its origin."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import nh3
import pandas as pd

from pages.charts.chart_theme import with_data
from pages.charts.headline import sentences, unmarked
from pages.export.shown import Shown, bibliography

MOST_ROWS = 500
"""Row limit of an item's numbers."""
_TAGS, _STYLES = {"div", "span", "i", "b"}, {"background", "grid-template-columns"}
Cell = str | int | float | bool | None
_ON_THE_PAGE = re.compile(r"(?:[;,] |(?<=\S) )?[^.;。]*\b[Cc]lick[^.。]*(?=[.。]|$)")
_ON_THE_PAGE_JA = re.compile(r"（クリックで[^）]*）|[^。（]*クリック[^。]*(?:。|$)")


@dataclass(frozen=True)
class Item:
    """A figure, a table or a text; plain text throughout.

    Attributes:
        question: that it answers.
        above: finding above it and others beside it, which is of none of them alone.
        address: of the view, without the server; empty if unknown.
        version: of Mixscope, that made the file.
        papers: keys of those behind it.
        queries: SQL that was asked for it.
        chart: Vega-Lite with its data inside; empty unless it is a figure.
        body: markup, clean; empty unless it is a text.
        columns: of its numbers.
        rows: at most `MOST_ROWS`.
        n_rows: number of rows before the cut.
        note: of who collected it.
    """

    question: str
    finding: str = ""
    above: str = ""
    caption: str = ""
    source: str = ""
    address: str = ""
    version: str = ""
    papers: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    chart: dict[str, Any] | None = None
    body: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    n_rows: int = 0
    note: str = ""

    @property
    def said(self) -> list[str]:
        """Its headline, the first sentence of the finding or else the question, and the others."""
        return sentences(self.finding) or [self.question, *sentences(self.above)]

    @property
    def frame(self) -> pd.DataFrame:
        """Its numbers, under names that differ."""
        again = [self.columns[:at].count(name) for at, name in enumerate(self.columns)]
        named = zip(self.columns, again, strict=True)
        names = [f"{name} ({n + 1})" if n else name for name, n in named]
        return pd.DataFrame(list(self.rows), columns=names)


def item_of(shown: Shown, address: str = "") -> Item:
    """Item with the chart of a figure, or the markup of a text, and the numbers behind it."""
    return Item(
        question=unmarked(shown.question),
        finding=unmarked(shown.finding),
        above=unmarked(shown.above),
        caption=_off_the_page(shown.caption),
        source=shown.source,
        address=address,
        version=shown.version,
        papers=shown.papers,
        queries=tuple(shown.asked.queries),
        chart=None if shown.chart is None else with_data(shown.chart),
        body=clean(shown.body) if shown.chart is None else "",
        **table_of(shown.printed),
    )


def _off_the_page(caption: str) -> str:
    """Caption without what can only be done on the page: clicks."""
    kept = _ON_THE_PAGE_JA.sub("", _ON_THE_PAGE.sub("", unmarked(caption))).strip()
    kept = re.sub(r"([.。])(?:\s*\.)+", r"\1", kept)
    return "" if kept == "." else kept


def clean(body: str) -> str:
    """Return markup without anything that runs, fetches or leaves its place."""
    return nh3.clean(
        body,
        tags=_TAGS,
        attributes={tag: {"class", "title", "style"} for tag in _TAGS},
        clean_content_tags={"style", "script"},
        filter_style_properties=_STYLES,
    )


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


def bibliography_of(items: Iterable[Item]) -> str:
    """BibTeX of the Mixscope versions that made the files, and of the papers behind the items."""
    items = list(items)
    papers = dict.fromkeys(paper for item in items for paper in item.papers)
    versions = dict.fromkeys(item.version for item in items if item.version)
    return bibliography(tuple(papers), ", ".join(versions))
