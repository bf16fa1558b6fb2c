"""A chart of whatever a question found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.contracts import every_table
from pages.ui.charts.colours import EDGES
from pages.ui.charts.look import coloured, flat_axis, tooltips
from pages.ui.words.columns import NAMES

KINDS = ("bars", "lines", "points")
MOST_COLOURS = 12
INDEXES = {
    column.name
    for table in every_table()
    for view in table.all_views
    for column in view.columns
    if column.unit == "index"
}
"""Columns that number something, such as layers, and measure nothing."""
_ENDS = ("low", "high")
_NULL = "NULL"
_SINGLE, _JOINED = 200, 40  # points that are drawn on lines, letters of a title
_FORMAT = ".4~g"
_HEIGHT = 340


@dataclass(frozen=True)
class Roles:
    """Which mark is drawn for a row, and of which columns; no colour is the empty string."""

    kind: str
    x: str
    y: str
    colour: str = ""


def numbers(frame: pd.DataFrame) -> list[str]:
    """The columns whose values have a place along an axis."""
    return [
        str(name)
        for name, values in frame.items()
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    ]


def colours(frame: pd.DataFrame) -> list[str]:
    """The columns with few enough values to be told apart by colour."""
    counted = frame.nunique(dropna=False)
    return [str(name) for name, n in counted.items() if 1 < n <= MOST_COLOURS]


def can_be_drawn(frame: pd.DataFrame) -> bool:
    """Whether there is more than one number, and something to set them against."""
    return len(frame) > 1 and len(frame.columns) > 1 and bool(numbers(frame))


def usual(frame: pd.DataFrame) -> Roles:
    """What a reader most likely wants to see: a measure over an index or over names, coloured by
    what tells rows of one place apart."""
    y = _measure(frame)
    others = [
        str(name) for name in frame if name != y and str(name).rpartition("_")[2] not in _ENDS
    ]
    others = others or [str(name) for name in frame if name != y]
    found = numbers(frame)
    x = next((each for each in others if each in INDEXES), None) or next(
        (each for each in others if each not in found), others[0]
    )
    apart = [each for each in colours(frame) if each in others and each != x]
    apart = [each for each in apart if each not in found or each in INDEXES]
    colour = next(iter(apart), "") if frame[x].duplicated().any() else ""
    return Roles(_kind(frame, x, colour), x, y, colour)


def _measure(frame: pd.DataFrame) -> str:
    """The first column that looks like a result: a broken number rather than a count, and neither
    an index nor the end of an interval."""
    found = numbers(frame)
    measures = [
        each for each in found if each not in INDEXES and each.rpartition("_")[2] not in _ENDS
    ]
    broken = [each for each in measures if pd.api.types.is_float_dtype(frame[each])]
    return [*broken, *measures, *found][0]


def _kind(frame: pd.DataFrame, x: str, colour: str) -> str:
    """Points where several rows share a place or x is measured, too."""
    if frame.duplicated([x, *filter(None, [colour])]).any():
        return "points"
    if x not in numbers(frame):
        return "bars"
    return "points" if pd.api.types.is_float_dtype(frame[x]) or x not in INDEXES else "lines"


def chart(frame: pd.DataFrame, roles: Roles) -> Any:
    """A mark for each row; an interval is drawn where the frame has one around y.

    Columns have names of their own in the chart: those of a reader may hold anything.
    """
    is_number = roles.x in numbers(frame)
    data = {"x": frame[roles.x], "y": frame[roles.y], **_ends(frame, roles.y)}
    data |= {"x": data["x"] if is_number else _named(roles.x, data["x"])}
    hue = roles.colour if roles.colour in NAMES else "colour"
    if roles.colour:
        data |= {hue: _texts(frame[roles.colour])}
    drawn = pd.DataFrame(data).replace([np.inf, -np.inf], np.nan)
    titles = {"x": roles.x, "y": roles.y, **({hue: roles.colour} if roles.colour else {})}
    titles = {name: _shortened(title) for name, title in titles.items()}
    drawn, encoding, present = coloured(drawn, hue if roles.colour else None, titles.get(hue))
    places = None if is_number and roles.kind != "bars" else list(dict.fromkeys(drawn["x"]))
    base = alt.Chart(drawn).encode(
        x=_across(titles["x"], places, whole=pd.api.types.is_integer_dtype(drawn["x"])),
        color=encoding,
        tooltip=tooltips({**titles, **{each: each for each in _ENDS if each in drawn}},
                         drawn, _FORMAT),
    )  # fmt: skip
    if roles.kind == "bars" and roles.colour:
        base = base.encode(xOffset=alt.XOffset(f"{hue}:N", sort=present))
    up = alt.Y("y:Q", title=titles["y"], stack=None, scale=alt.Scale(zero=roles.kind != "points"))
    parts = [_marks(base, roles.kind, len(drawn)).encode(y=up)]
    if "low" in drawn:
        interval = base.encode(y=alt.Y("low:Q", title=titles["y"]), y2=alt.Y2("high:Q"))
        parts = _with_interval(parts[0], interval, roles.kind)
    return alt.layer(*parts).properties(height=_HEIGHT)


def _across(title: str, places: list[Any] | None, *, whole: bool) -> alt.X:
    """The axis of what is drawn side by side at `places`, else of a number."""
    if places is not None:
        axis = alt.Axis(labelAngle=0, labelOverlap=True, labelLimit=120)
        if len(places) > MOST_COLOURS:
            axis = alt.Axis(labelAngle=-45, labelOverlap=True, labelLimit=120)
        return alt.X("x:O", title=title, sort=places, axis=axis)
    axis = alt.Axis(labelAngle=0, tickMinStep=1, format="d") if whole else flat_axis()
    return alt.X("x:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=False, padding=8))


def _marks(base: alt.Chart, kind: str, n: int) -> alt.Chart:
    if kind == "bars":
        return base.mark_bar(cornerRadiusEnd=1)
    if kind == "lines":
        return base.mark_line(point={"size": 36, "filled": True} if n <= _SINGLE else False)
    return base.mark_circle(size=40, opacity=0.7)


def _with_interval(marks: alt.Chart, interval: alt.Chart, kind: str) -> list[alt.Chart]:
    """A band behind lines; rules over everything else."""
    if kind == "lines":
        return [interval.mark_area(opacity=0.18), marks]
    edges = zip(EDGES, (3.5, 1.5), strict=True)
    return [marks, *(interval.mark_rule(color=line, strokeWidth=wide) for line, wide in edges)]


def _ends(frame: pd.DataFrame, y: str) -> Mapping[str, pd.Series]:
    """The interval of a column: ends that bear its name, or none, and lie around it everywhere."""
    found = set(numbers(frame)) - {y}
    for prefix in (f"{y}_", ""):
        low, high = (f"{prefix}{end}" for end in _ENDS)
        if {low, high} <= found:
            known = frame[[low, high, y]].dropna()
            if len(known) and known[y].between(known[low], known[high]).all():
                return {"low": frame[low], "high": frame[high]}
    return {}


def _texts(values: pd.Series) -> pd.Series:
    """Every value as text."""
    return values.astype(object).where(values.notna(), _NULL).map(str)


def _named(column: str, values: pd.Series) -> pd.Series:
    """Texts under the names that a reader sees on all pages, where the column has such names."""
    texts, known = _texts(values), NAMES.get(column)
    if known and known.colours is not None and set(texts) <= set(known.colours):
        return texts.map(known.of)
    return texts


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _JOINED else f"{line[: _JOINED - 1]}…"
