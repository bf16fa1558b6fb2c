"""Marks of charts, exports compared with what is drawn, and promises that captions make."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pages.export.shown import Shown
from pages.kit.items import Figure, Markup, Table
from pages.words.units import PERCENT, POINTS, named_in, without_unit

_PARTS = ("layer", "hconcat", "vconcat", "concat")
_INTERVAL = {
    "en": r"(?i)95%|(?<!no )(?<!without )\bintervals?\b|whisker",
    "ja": "95%|区間(?!(?:は|が)?な)|ひげ",
}
_CLICK = {"en": r"(?i)\bclick\b(?! on a column)", "ja": r"(?<!列名を)クリック"}
_COUNT = {"en": r"(?:for each of|Rows:) ([\d,]+)", "ja": r"(?:行数：|計 )([\d,]+)"}


@dataclass(frozen=True)
class Unit:
    """One kind of mark of a chart: its channels with their definitions, the name of its data."""

    mark: str
    encoding: Mapping[str, Any]
    data: str | None

    def is_read(self, channel: str) -> bool:
        """Return True if a channel shows numbers under a title, not places that an axis names."""
        entry = self.encoding.get(channel.removesuffix("2"), {})
        if not isinstance(entry, dict) or entry.get("type") != "quantitative" or entry.get("bin"):
            return False
        is_place = entry.get("field") in ("x", "y") and (entry.get("axis") or {}).get("values")
        is_field = "field" in entry and "field" in self.encoding[channel]
        return is_field and bool((entry.get("title") or "").strip()) and not is_place

    @property
    def ends(self) -> set[str]:
        """Fields of lower ends of intervals: where marks begin, or in tooltips."""
        tooltip = self.encoding.get("tooltip", [])
        entries = tooltip if isinstance(tooltip, list) else [tooltip]
        if self.mark in ("rule", "area", "bar"):
            entries = [*entries, *(self.encoding.get(channel, {}) for channel in ("x", "y"))]
        return {field for entry in entries if (field := entry.get("field", "")).endswith("low")}


def units(
    chart: Mapping[str, Any], data: str | None = None, encoding: Mapping[str, Any] | None = None
) -> Iterator[tuple[Mapping[str, Any], Unit]]:
    """Yield every kind of mark of a chart in Vega-Lite with the part that draws it, in order."""
    data = chart.get("data", {}).get("name", data)
    encoding = {**(encoding or {}), **chart.get("encoding", {})}
    parts = [inner for kind in _PARTS for inner in chart.get(kind, [])]
    parts += [chart["spec"]] if "spec" in chart else []
    for part in parts:
        yield from units(part, data, encoding)
    if not parts:
        mark = chart.get("mark", "")
        yield chart, Unit(mark["type"] if isinstance(mark, dict) else mark, encoding, data)


def assert_exported_as_drawn(shown: Shown, drawn: Mapping[str, Any]) -> None:
    """Check that the exported frame holds every number that a chart draws under a title."""
    assert len(shown.printed) == len(shown.frame) > 0
    for _, unit in units(drawn) if not shown.asked.own else ():
        for channel in filter(unit.is_read, unit.encoding):
            name = unit.encoding[channel]["field"]
            column = _exported(shown.frame, name)
            assert column is not None, f"{name} is not exported"
            rows = (row.get(name) for row in drawn["datasets"].get(unit.data, []))
            wanted = np.array([value for value in rows if value is not None], dtype=float)
            held = np.sort(column.dropna().to_numpy(dtype=float))
            if len(wanted):
                after = np.searchsorted(held, wanted).clip(0, len(held) - 1)
                near = [held[place] - wanted for place in (after, np.maximum(after - 1, 0))]
                away = np.abs(near).min(axis=0)
                assert (away <= 1e-6 * np.maximum(np.abs(wanted), 1e-3)).all(), name


def _exported(frame: pd.DataFrame, name: str) -> pd.Series | None:
    """The column of a field, or the one that it was converted from or to."""
    if name in frame:
        return frame[name]
    if without_unit(name) in frame:
        return 100 * frame[without_unit(name)]
    converted = (named_in(unit, name) for unit in (PERCENT, POINTS))
    return next((frame[other] / 100 for other in converted if other in frame), None)


def broken(item: Figure | Table | Markup, drawn: Mapping[str, Any], lang: str) -> Iterator[str]:
    """Yield promises of texts that what is shown breaks; no interval may go untold either."""
    shown, texts = item.shown, "\n".join((item.shown.question, item.shown.caption, *item.notes))
    has_interval = any(
        row.get(end) is not None
        for _, unit in units(drawn)
        for end in unit.ends
        for row in drawn.get("datasets", {}).get(unit.data, ())
    )
    can_be_clicked = any("select" in given for given in drawn.get("params", ()))
    rows = shown.frame
    if isinstance(item, Markup):
        body = item.body if isinstance(item.body, str) else item.body()
        can_be_clicked, has_interval = "<a " in body, bool(re.search("95%( interval|信頼)", body))
    if isinstance(item, Table):
        can_be_clicked, rows = True, item.full
        ends = [name for name in map(str, shown.frame) if name.endswith("low")]
        has_interval = bool(rows[ends].notna().to_numpy().any())
    if has_interval != bool(re.search(_INTERVAL[lang], texts)):
        yield f"an interval is {'' if has_interval else 'not '}shown: {texts}"
    if re.search(_CLICK[lang], texts) and not (can_be_clicked or getattr(item, "follow", None)):
        yield f"nothing can be clicked: {texts}"
    for count in re.findall(_COUNT[lang], texts):
        if int(count.replace(",", "")) != len(rows):
            yield f"{len(rows)} rows are shown: {texts}"
