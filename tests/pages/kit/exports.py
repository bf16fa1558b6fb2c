"""Kinds of marks of a chart, and exports compared with what the page shows."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pages.charts.chart_theme import with_data
from pages.export.shown import Shown
from pages.words.units import PERCENT, POINTS, named_in, without_unit

_IN_PERCENT = ("{} (%)", "{}（%）")
_PLACES = ("x", "y")  # fields that say where something is put, on axes that name every place
_CLOSE = 1e-6  # of numbers in JSON
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


def assert_exported_as_shown(shown: Shown) -> None:
    """The frame that is exported holds all that is drawn, and is printed under the same headings
    in the same units."""
    frame, printed = shown.frame, shown.printed
    assert len(frame)
    for name, heading, factor in shown_columns(shown):
        assert heading in printed, f"{name} is shown as {heading}"
        np.testing.assert_allclose(
            printed[heading].to_numpy(float), factor * frame[name].to_numpy(float), rtol=_CLOSE
        )


def shown_columns(shown: Shown) -> Iterator[tuple[str, str, int]]:
    """Yield column, printed heading and factor of every numeric column with a unique heading.

    The factor is 100 for numbers in per cent, else 1.
    """
    if shown.asked.own:
        return
    titles = dict(_of_table(shown) if shown.chart is None else _of_chart(shown))
    if shown.chart is not None:  # charts of a page's own have no headings
        titles = {name: titles[name] for name in titles if name in shown.headings}
    every = Counter(title for title, _ in titles.values())
    for name, (title, factor) in titles.items():
        forms = _IN_PERCENT if factor == 100 else ("{}",)
        printed = [form.format(title) for form in forms if form.format(title) in shown.printed]
        if every[title] == 1 and pd.api.types.is_numeric_dtype(shown.frame[name]):
            yield name, (printed or [forms[0].format(title)])[0], factor


def _of_table(shown: Shown) -> Iterator[tuple[str, tuple[str, int]]]:
    for name, column in shown.columns.items():
        label, format = column, ""
        if not isinstance(column, str):
            label, format = column["label"], (column["type_config"] or {}).get("format")
        yield name, (label, 100 if format == "percent" else 1)


def _of_chart(shown: Shown) -> Iterator[tuple[str, tuple[str, int]]]:
    """The numbers that have one title, in tooltips or else at axes and in legends; all that is read
    off these is in the frame."""
    drawn: dict[str, set[tuple[str, int]]] = defaultdict(set)
    titled: dict[str, set[str]] = defaultdict(set)
    specification = with_data(shown.chart)
    for _, unit in units(specification):
        for channel, entry in unit.encoding.items():
            name, title = str(entry.get("field")), (entry.get("title") or "").strip()
            if not ("field" in entry and _is_read(unit, channel.removesuffix("2"))):
                continue
            column = _exported(shown.frame, name)
            assert column is not None, f"{name} is not exported"
            rows = [row.get(name) for row in specification["datasets"].get(unit.data, [])]
            assert_holds(column, rows, f"{name}, shown as {title}")
            if title and name in shown.frame and name not in (unit.span or ()):
                drawn[name].add((title, 100 if _in_percent(unit, entry) else 1))
        for entry in unit.tooltip:
            titled[entry["field"]].add(entry["title"])
    for name, titles in drawn.items():
        factors = {factor for _, factor in titles}
        titles = titled[name] or {title for title, _ in titles}
        others = (titled[other] for other in titled if other in shown.frame and other != name)
        if len(titles) == len(factors) == 1 and titles not in others:
            yield name, (titles.pop(), factors.pop())


def _is_read(unit: Unit, channel: str) -> bool:
    """Return True if a channel shows numbers under a title, not places named by its axis."""
    entry = unit.encoding.get(channel, {})
    is_place = entry.get("field") in _PLACES and (entry.get("axis") or {}).get("values")
    return unit.is_number(channel) and bool((entry.get("title") or "").strip()) and not is_place


def _exported(frame: pd.DataFrame, name: str) -> pd.Series | None:
    """The column of a field, or the one that it was converted from or to."""
    if name in frame:
        return frame[name]
    if without_unit(name) in frame:
        return 100 * frame[without_unit(name)]
    converted = (named_in(unit, name) for unit in (PERCENT, POINTS))
    return next((frame[other] / 100 for other in converted if other in frame), None)


def _in_percent(unit: Unit, entry: dict[str, Any]) -> bool:
    """Return True if all formats of a field are in per cent."""
    entries = [entry, *(other for other in unit.tooltip if other["field"] == entry["field"])]
    parts = [part for shown in entries for part in (shown, shown.get("axis"), shown.get("legend"))]
    formats = [part["format"] for part in parts if part and part.get("format")]
    return bool(formats) and all(format.endswith("%") for format in formats)


def assert_holds(column: pd.Series, values: list[Any], what: str) -> None:
    """Every number is one of those of the column."""
    wanted = np.array([value for value in values if value is not None], dtype=float)
    held = np.sort(column.dropna().to_numpy(dtype=float))
    assert len(held) or not len(wanted), what
    if len(wanted):
        place = np.searchsorted(held, wanted).clip(1, max(len(held) - 1, 1))
        sides = (held[np.minimum(place - step, len(held) - 1)] for step in (0, 1))
        away = np.min([np.abs(side - wanted) for side in sides], axis=0)
        assert (away <= _CLOSE * np.maximum(np.abs(wanted), 1e-3)).all(), what
