"""Kinds of marks of a chart in Vega-Lite, with their encodings and data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Specification = dict[str, Any]
"""A chart in Vega-Lite, with its data inside."""
PARTS = ("layer", "hconcat", "vconcat", "concat")
_SPANS = {"rule", "area", "bar"}


@dataclass(frozen=True)
class Unit:
    """One kind of mark of a chart: its encoding and the name of its data.

    Attributes:
        encoding: channels with one definition.
        many: channels with several definitions.
    """

    mark: str
    encoding: Mapping[str, dict[str, Any]]
    many: Mapping[str, list[dict[str, Any]]]
    data: str | None

    def field(self, channel: str) -> str | None:
        """Field of a channel, if it has one."""
        return self.encoding.get(channel, {}).get("field")

    def is_number(self, channel: str) -> bool:
        """Return True if a channel shows a field of unbinned numbers."""
        shown = self.encoding.get(channel, {})
        return shown.get("type") == "quantitative" and "field" in shown and not shown.get("bin")

    @property
    def tooltip(self) -> list[dict[str, Any]]:
        """Entries of the tooltip that have a field, in order."""
        entries = [self.encoding.get("tooltip", {}), *self.many.get("tooltip", [])]
        return [entry for entry in entries if "field" in entry]

    @property
    def span(self) -> tuple[str, str, str] | None:
        """Channel and fields of both ends, if the mark is drawn from one value to another."""
        for channel in ("y", "x"):
            low, high = self.field(channel), self.field(f"{channel}2")
            if low and high and self.mark in _SPANS and self.is_number(channel):
                return channel, low, high
        return None


def units(
    chart: Specification,
    data: str | None = None,
    encoding: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Specification, Unit]]:
    """Yield every kind of mark of a chart with the part of the chart that draws it, in order."""
    data = chart.get("data", {}).get("name", data)
    encoding = {**(encoding or {}), **chart.get("encoding", {})}
    parts = [inner for kind in PARTS for inner in chart.get(kind, [])]
    parts += [chart["spec"]] if "spec" in chart else []
    for part in parts:
        yield from units(part, data, encoding)
    if not parts:
        mark = chart.get("mark", "")
        single = {name: entry for name, entry in encoding.items() if isinstance(entry, dict)}
        many = {name: entries for name, entries in encoding.items() if isinstance(entries, list)}
        kind = mark["type"] if isinstance(mark, dict) else mark
        yield chart, Unit(kind, single, many, data)
