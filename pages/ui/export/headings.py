"""Headings of columns, from the axes, legends and tooltips of charts or from tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pages.ui.comparison.marks import Specification, Unit, units

_PER_CENT = "percent"  # a number format of Streamlit


@dataclass(frozen=True)
class Heading:
    """Title of a column, and whether its numbers are shares in per cent.

    The title is "" if the column has none, or several.
    """

    title: str
    in_percent: bool


def of_table(columns: Mapping[str, Any]) -> dict[str, Heading]:
    """Headings of a table by its columns: names, or columns of `st.column_config`."""
    return {name: _of_column(column) for name, column in columns.items()}


def _of_column(column: Any) -> Heading:
    if not isinstance(column, Mapping):
        return Heading(str(column), in_percent=False)
    format = (column.get("type_config") or {}).get("format")
    return Heading(column.get("label") or "", format == _PER_CENT)


def of_chart(chart: Specification) -> dict[str, Heading]:
    """Headings of the fields of a chart.

    Tooltips take precedence over axes, which several fields may share: the ends of an interval are
    on the axis of its mean, and have their titles from tooltips alone.
    """
    titles: dict[bool, dict[str, set[str]]] = {side: defaultdict(set) for side in (True, False)}
    formats: dict[str, set[bool]] = defaultdict(set)
    for _, unit in units(chart):
        for entry, is_told in _entries(unit):
            name, format = entry["field"], _format(entry)
            if format:
                formats[name].add(format.endswith("%"))
            if (entry.get("title") or "").strip() and (is_told or name not in (unit.span or ())):
                titles[is_told][name].add(entry["title"])
    fields = {*formats, *titles[True], *titles[False]}
    return {
        name: Heading(_only(titles[True][name] or titles[False][name]), formats[name] == {True})
        for name in fields
    }


def _entries(unit: Unit) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield all definitions with a field, each with True for a tooltip."""
    for channel, entry in unit.encoding.items():
        if isinstance(entry.get("field"), str) and channel != "tooltip":
            yield entry, False
    for entry in unit.tooltip:
        yield entry, True


def _format(entry: Mapping[str, Any]) -> str:
    parts = (entry, entry.get("axis") or {}, entry.get("legend") or {})
    return next((part["format"] for part in parts if part.get("format")), "")


def _only(titles: set[str]) -> str:
    return next(iter(titles)) if len(titles) == 1 else ""
