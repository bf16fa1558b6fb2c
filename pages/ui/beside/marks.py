"""What the marks of a chart are: which fields say where they belong, and which carry numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Specification = dict[str, Any]
"""A chart in Vega-Lite, with its data inside."""
PARTS = ("layer", "hconcat", "vconcat", "concat")
_MEASURING = {"bar", "line", "point", "circle", "square", "area", "tick"}
_SPANS = {"rule", "area", "bar"}
_LOW, _HIGH = "low", "high"  # how the names of ends of intervals end
_NOT_DRAWN = ("tooltip", "href", "url", "description")


@dataclass(frozen=True)
class Unit:
    """One kind of mark of a chart: how it is encoded, and the name of its data.

    Attributes:
        encoding: channels that show one thing each.
        many: channels that show several.
        facets: the fields that there is a panel for each value of.
    """

    mark: str
    encoding: Mapping[str, dict[str, Any]]
    many: Mapping[str, list[dict[str, Any]]]
    data: str | None
    facets: frozenset[str]

    def field(self, channel: str) -> str | None:
        """The field that a channel shows, if it shows one."""
        return self.encoding.get(channel, {}).get("field")

    def is_number(self, channel: str) -> bool:
        """Whether a channel shows numbers of a field, one by one."""
        shown = self.encoding.get(channel, {})
        return shown.get("type") == "quantitative" and "field" in shown and not shown.get("bin")

    @property
    def measures(self) -> str | None:
        """The channel of the number that it shows, or of both ends of one."""
        shown = self.value or self.span
        return shown[0] if shown else None

    @property
    def fields(self) -> set[str]:
        """All that it shows, but for what only a tooltip says."""
        drawn = [entry for name, entry in self.encoding.items() if name not in _NOT_DRAWN]
        drawn += [
            entry for name, parts in self.many.items() if name not in _NOT_DRAWN for entry in parts
        ]
        return set(self.facets) | {entry["field"] for entry in drawn if "field" in entry}

    @property
    def tooltip(self) -> list[dict[str, Any]]:
        """What its tooltip says of fields, in order."""
        entries = [self.encoding.get("tooltip", {}), *self.many.get("tooltip", [])]
        return [entry for entry in entries if "field" in entry]

    @property
    def value(self) -> tuple[str, str] | None:
        """The channel and the field of the number that it shows, if it shows one.

        A colour comes first, then what is measured upwards, then what is measured to the right;
        an axis without a title measures nothing.
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
        """The channel and the fields of both ends, where it shows from where to where."""
        for channel in ("y", "x"):
            low, high = self.field(channel), self.field(f"{channel}2")
            if low and high and self.mark in _SPANS and self.is_number(channel):
                return channel, low, high
        return None


@dataclass
class Data:
    """What one set of rows of a chart shows.

    Attributes:
        values: the fields of numbers.
        ends: of the interval of the first of them, if there is one.
        keys: the fields that say where a mark belongs.
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
    """Every kind of mark of a chart with the part of the chart that draws it, in order."""
    data = chart.get("data", {}).get("name", data)
    encoding = {**(encoding or {}), **chart.get("encoding", {})}
    facet = chart.get("facet", {})
    sides = (facet, facet.get("row", {}), facet.get("column", {}))
    facets = facets | {side["field"] for side in sides if "field" in side}
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
    """By the names of its data, what a chart shows of them; without data that carry no number."""
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
    """The ends of intervals; the number they are of comes first among the values from now on."""
    for unit in of:
        if unit.span and unit.span[1].endswith(_LOW) and unit.span[2].endswith(_HIGH):
            colour = unit.field("color")
            alike = [
                other.value[1] for other in of if other.value and other.field("color") == colour
            ]
            data.values.sort(key=lambda name: name not in alike)
            return unit.span[1:]
    is_named = {_LOW, _HIGH} <= set(rows[0] if rows else ())
    return (_LOW, _HIGH) if is_named else None
