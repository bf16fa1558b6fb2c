"""Common scales of two charts, and a scale around 0 for their difference."""

from typing import Any

import pandas as pd

from pages.ui.charts.chart_theme import open_ends
from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.comparison.difference import Differences
from pages.ui.comparison.marks import Specification, Unit, units

Rows = dict[str, list[dict[str, Any]]]
"""Rows of charts, by the names of their data sets."""
_PLACES, _FORMAT = (0, 0.25, 0.5, 1), ".2~g"  # of a legend with labelled ends
_MANY, _MOST = 200, 0.995  # above so many cells, colours end at this quantile


def put_on_one_scale(one: Specification, other: Specification, rows: Rows) -> None:
    """Give both charts one domain for each measured number, and one colour for each name."""
    for (_, first), (_, second) in zip(units(one), units(other), strict=False):
        for channel in dict.fromkeys((first.measures, "color")):
            if channel and first.field(channel) and second.field(channel):
                pair = (first.encoding[channel], second.encoding[channel])
                scale = _common(*(side.get("scale") or {} for side in pair))
                if not scale and channel == first.measures:
                    scale = _reaching(pair[0].get("scale") or {}, (first, second), rows)
                for entry in pair:
                    if scale and entry.get("scale", {}) is not None:
                        entry["scale"] = entry.get("scale", {}) | scale


def around_zero(channel: str, differences: Differences) -> dict[str, Any]:
    """Scale of differences; on a map of many cells, the few largest lie beyond its ends."""
    if channel != "color":
        return {"zero": True}
    value = differences.of.values[0]
    sizes = sorted(abs(row[value]) for row in differences.rows)
    reach = sizes[round(_MOST * len(sizes)) - 1] if len(sizes) > _MANY else 0
    reach = float(f"{reach or sizes[-1]:.2g}")
    stops = [reach * place / 2 for place in (-2, -1, 0, 1, 2)]
    return {"domain": stops, "range": list(LESS_TO_MORE), "interpolate": "rgb", "clamp": True}


def mark_ends(panel: Specification, rows: Rows) -> None:
    """Mark the ends of legends if some numbers lie beyond their colours."""
    for _, unit in units(panel):
        entry = unit.encoding.get("color", {})
        scale, legend = entry.get("scale") or {}, entry.get("legend", {})
        ends = scale.get("domain")
        if not (scale.get("clamp") and isinstance(ends, list) and legend is not None):
            continue
        field, length = str(unit.field("color")), ends[-1] - ends[0]
        values = pd.Series([row.get(field) for row in rows.get(str(unit.data), [])], dtype=float)
        places = ends if len(ends) > 2 else [ends[0] + place * length for place in _PLACES]
        entry["legend"] = legend | open_ends(values, places, _FORMAT)


def _common(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Domain of two scales with explicit domains, with the colours of names; empty otherwise."""
    first, second = (scale.get("domain") for scale in (one, other))
    if not (isinstance(first, list) and isinstance(second, list) and first and second):
        return {}
    both = [*first, *second]
    if all(isinstance(value, int | float) for value in both):
        if len(first) == len(second) == 2:
            return {"domain": [min(both), max(both)]}
        return {"domain": max(first, second, key=lambda domain: max(map(abs, domain)))}
    if not all(isinstance(value, str | int | float) for value in both):
        return {}
    colours = dict(zip(second, other.get("range", second), strict=False))
    colours |= dict(zip(first, one.get("range", first), strict=False))
    ranges = {"range": list(colours.values())} if "range" in one and "range" in other else {}
    return {"domain": list(colours), **ranges}


def _reaching(scale: dict[str, Any], pair: tuple[Unit, Unit], rows: Rows) -> dict[str, Any]:
    """Domain of the numbers of both charts, from 0 if the scale starts there."""
    values = [
        row[name]
        for unit in pair
        for row in rows.get(str(unit.data), [])
        for name in (unit.span or unit.value or ())[1:]
        if isinstance(row.get(name), int | float)
    ]
    if scale.get("zero", True) and scale.get("type", "linear") != "log":
        values.append(0)
    return {"domain": [min(values), max(values)]} if values and min(values) < max(values) else {}
