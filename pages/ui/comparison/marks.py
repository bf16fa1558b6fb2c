"""Marks of a chart, with the fields that identify a mark and those that hold its numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Specification = dict[str, Any]
"""A chart in Vega-Lite, with its data inside."""
PARTS = ("layer", "hconcat", "vconcat", "concat")
_MEASURING = {"bar", "line", "point", "circle", "square", "area", "tick"}
_SPANS = {"rule", "area", "bar"}
_LOW, _HIGH = "low", "high"  # suffixes of the ends of intervals
_NOT_DRAWN = ("tooltip", "href", "url", "description")


@dataclass(frozen=True)
class Unit:
    """One kind of mark of a chart: its encoding and the name of its data.

    Attributes:
        encoding: channels with one definition.
        many: channels with several definitions.
        facets: fields with a panel for each value.
    """

    mark: str
    encoding: Mapping[str, dict[str, Any]]
    many: Mapping[str, list[dict[str, Any]]]
    data: str | None
    facets: frozenset[str]

    def field(self, channel: str) -> str | None:
        """Field of a channel, if it has one."""
        return self.encoding.get(channel, {}).get("field")

    def is_number(self, channel: str) -> bool:
        """Return True if a channel shows a field of unbinned numbers."""
        shown = self.encoding.get(channel, {})
        return shown.get("type") == "quantitative" and "field" in shown and not shown.get("bin")

    @property
    def measures(self) -> str | None:
        """Channel of the mark's number, or of both ends of an interval."""
        shown = self.value or self.span
        return shown[0] if shown else None

    @property
    def fields(self) -> set[str]:
        """All fields of the mark except those that only its tooltip shows."""
        drawn = [entry for name, entry in self.encoding.items() if name not in _NOT_DRAWN]
        drawn += [
            entry for name, parts in self.many.items() if name not in _NOT_DRAWN for entry in parts
        ]
        return set(self.facets) | {entry["field"] for entry in drawn if "field" in entry}

    @property
    def tooltip(self) -> list[dict[str, Any]]:
        """Entries of the tooltip that have a field, in order."""
        entries = [self.encoding.get("tooltip", {}), *self.many.get("tooltip", [])]
        return [entry for entry in entries if "field" in entry]

    @property
    def value(self) -> tuple[str, str] | None:
        """Channel and field of the mark's number, if it has one.

        Colour takes precedence over y, and y over x. An axis without a title holds no measured
        number.
        """
        if self.span:
            return None
        if self.is_number("color"):
            return "color", str(self.field("color"))
        measured = [channel for channel in ("y", "x") if self.is_number(channel)]
        if self.mark in _MEASURING and measured and self.encoding[measured[0]].get("title"):
            return measured[0], str(self.field(measured[0]))
        return None

    @property
    def span(self) -> tuple[str, str, str] | None:
        """Channel and fields of both ends, if the mark is drawn from one value to another."""
        for channel in ("y", "x"):
            low, high = self.field(channel), self.field(f"{channel}2")
            if low and high and self.mark in _SPANS and self.is_number(channel):
                return channel, low, high
        return None


@dataclass
class Data:
    """Roles of the fields of one data set of a chart.

    Attributes:
        values: the fields of numbers.
        ends: of the interval of the first of them, if there is one.
        keys: the fields that identify a mark.
    """

    values: list[str] = field(default_factory=list)
    ends: tuple[str, str] | None = None
    keys: set[str] = field(default_factory=set)


def units(
    chart: Specification,
    data: str | None = None,
    encoding: Mapping[str, Any] | None = None,
    facets: frozenset[str] = frozenset(),
) -> Iterator[tuple[Specification, Unit]]:
    """Yield every kind of mark of a chart with the part of the chart that draws it, in order."""
    data = chart.get("data", {}).get("name", data)
    encoding = {**(encoding or {}), **chart.get("encoding", {})}
    facet = chart.get("facet", {})
    facet_parts = (facet, facet.get("row", {}), facet.get("column", {}))
    facets |= {part["field"] for part in facet_parts if "field" in part}
    parts = [inner for kind in PARTS for inner in chart.get(kind, [])]
    parts += [chart["spec"]] if "spec" in chart else []
    for part in parts:
        yield from units(part, data, encoding, facets)
    if not parts:
        mark = chart.get("mark", "")
        single = {name: entry for name, entry in encoding.items() if isinstance(entry, dict)}
        many = {name: entries for name, entries in encoding.items() if isinstance(entries, list)}
        kind = mark["type"] if isinstance(mark, dict) else mark
        yield chart, Unit(kind, single, many, data, facets)


def measured(chart: Specification) -> dict[str, Data]:
    """Field roles of a chart by data set; data sets without numbers are left out."""
    by_name: dict[str, Data] = {}
    drawn = [unit for _, unit in units(chart) if unit.data]
    for unit in drawn:
        if unit.value:
            values = by_name.setdefault(str(unit.data), Data()).values
            values.extend({unit.value[1]} - set(values))
    for name, data in by_name.items():
        of = [unit for unit in drawn if unit.data == name]
        data.ends = _ends(of, data, chart["datasets"][name])
        spans = {end for unit in of if unit.span for end in unit.span[1:]}
        shown = {column for unit in of for column in unit.fields}
        data.keys = shown - spans - set(data.values) - set(data.ends or ())
    return by_name


def _ends(of: list[Unit], data: Data, rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    """Fields of the ends of intervals; sorts the number between them first in the values."""
    for unit in of:
        if unit.span and unit.span[1].endswith(_LOW) and unit.span[2].endswith(_HIGH):
            alike = [other.value[1] for other in of if other.value and _is_alike(other, unit)]
            data.values.sort(key=lambda name: name not in alike)
            return unit.span[1:]
    is_named = {_LOW, _HIGH} <= set(rows[0] if rows else ())
    return (_LOW, _HIGH) if is_named else None


def _is_alike(one: Unit, other: Unit) -> bool:
    return one.field("color") == other.field("color")
