"""Chart of the result of any query."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.contracts import every_table
from pages.charts.chart_theme import Chart, coloured, edged, flat_axis, layered, tooltips
from pages.charts.colours import MANY_COLOURS
from pages.words.columns import NAMES

KINDS = ("bars", "lines", "points")
MOST_COLOURS, MOST_PLACES = 12, 100
INDEXES = {
    column.name
    for table in every_table()
    for view in table.all_views
    for column in view.columns
    if column.unit == "index"
}
"""Index columns, such as layers."""
_ENDS = ("low", "high")
_NULL = "NULL"
_SINGLE, _LABELS = 200, 30  # most points marked on lines, most labels that all fit
_TITLE = 40  # letters
_MOST_OTHERS = 6  # columns shown only in the tooltip
_FORMAT = ".4~g"
_HEIGHT = 340
_ROW, _NAME_WIDTH = 18, 260  # pixels of a lying bar and of its name
_UPRIGHT = 8  # most names below upright bars
_DIGITS = 20


@dataclass(frozen=True)
class Roles:
    """Mark of a chart and the columns of its axes and colour; "" for no colour."""

    kind: str
    x: str
    y: str
    colour: str = ""


def numbers(frame: pd.DataFrame) -> list[str]:
    """Numeric columns."""
    return [
        str(name)
        for name, values in frame.items()
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    ]


def colours(frame: pd.DataFrame) -> list[str]:
    """Columns with few enough distinct values for colours."""
    counted = frame.nunique(dropna=False)
    return [str(name) for name, n in counted.items() if 1 < n <= MOST_COLOURS]


def places(frame: pd.DataFrame) -> list[str]:
    """Columns for the horizontal axis: numbers, and names with few enough values."""
    numeric, counted = numbers(frame), frame.nunique(dropna=False)
    return [str(name) for name, n in counted.items() if name in numeric or n <= MOST_PLACES]


def can_be_drawn(frame: pd.DataFrame) -> bool:
    """Return True if the frame has several rows, a numeric column, and another for the x axis."""
    return len(frame) > 1 and len(places(frame)) > 1 and bool(numbers(frame))


def usual(frame: pd.DataFrame) -> Roles:
    """Default chart: a measure over an index or over names.

    Its colour is a column that separates rows with the same x.
    """
    y = _measure(frame)
    beside = [column for column in places(frame) if column != y]
    others = [column for column in beside if not _is_end(column)] or beside
    numeric = numbers(frame)
    indexes = [column for column in others if column in INDEXES]
    names = [column for column in others if column not in numeric]
    x = [*indexes, *names, *others][0]
    apart = [column for column in colours(frame) if column in {*indexes, *names} - {x}]
    colour = next(iter(apart), "") if frame[x].duplicated().any() else ""
    return Roles(_kind(frame, x, colour), x, y, colour)


def _measure(frame: pd.DataFrame) -> str:
    """Most likely result column: a float before an integer, no index, no interval end."""
    numeric = numbers(frame)
    measures = [column for column in numeric if column not in INDEXES and not _is_end(column)]
    broken = [column for column in measures if pd.api.types.is_float_dtype(frame[column])]
    return [*broken, *measures, *numeric][0]


def _is_end(column: str) -> bool:
    """Return True if the column is named like the end of an interval."""
    return column.rpartition("_")[2] in _ENDS


def _kind(frame: pd.DataFrame, x: str, colour: str) -> str:
    """Choose points if several rows share a position or if x is a measured number."""
    if frame.duplicated([x, *filter(None, [colour])]).any():
        return "points"
    if x not in numbers(frame):
        return "bars"
    return "points" if pd.api.types.is_float_dtype(frame[x]) or x not in INDEXES else "lines"


def chart(frame: pd.DataFrame, roles: Roles) -> Any:
    """Draw a mark per row, with an interval if the frame has one around y."""
    hue = (roles.colour if roles.colour in NAMES else "colour") if roles.colour else None
    drawn, titles = _renamed(frame, roles, hue)
    drawn, encoding, present = coloured(drawn, hue, titles.get(hue or ""), _colours(drawn, hue))
    tooltip = tooltips(titles, drawn, _FORMAT)
    if roles.kind == "bars" and _is_long(drawn["x"]):
        return _rows(drawn, titles, {"color": encoding, "tooltip": tooltip}, hue, present)
    base = Chart(drawn).encode(
        x=_across(drawn["x"], titles["x"], roles.kind),
        color=encoding,
        tooltip=tooltip,
    )
    if roles.kind == "bars" and hue:
        base = base.encode(xOffset=alt.XOffset(f"{hue}:N", sort=present))
    up = alt.Y("y:Q", title=titles["y"], stack=None, scale=alt.Scale(zero=roles.kind != "points"))
    parts = [_marks(base, roles.kind, len(drawn)).encode(y=up)]
    if "low" in drawn:
        interval = base.encode(y=alt.Y("low:Q", title=titles["y"]), y2=alt.Y2("high:Q"))
        parts = _with_interval(parts[0], interval, roles.kind)
    return layered(*parts, height=_HEIGHT)


def _colours(drawn: pd.DataFrame, hue: str | None) -> dict[str, str] | None:
    """A colour for each name, in their order; None for names that have colours of their own."""
    if hue is None or hue in NAMES:
        return None
    names = drawn[hue].unique()
    in_order = sorted(names, key=lambda name: (not name.isdecimal(), name.zfill(_DIGITS), name))
    return dict(zip(in_order, MANY_COLOURS, strict=False))


def _is_long(places: pd.Series) -> bool:
    """Return True for more names than fit below upright bars."""
    return not pd.api.types.is_numeric_dtype(places) and places.nunique() > _UPRIGHT


def _rows(
    drawn: pd.DataFrame,
    titles: dict[str, str],
    encodings: dict[str, Any],
    hue: str | None,
    present: list[str],
) -> Any:
    """Draw bars that lie, so that the names of many places can be read."""
    order = list(dict.fromkeys(drawn["x"].dropna()))
    axis = alt.Axis(labelLimit=_NAME_WIDTH, labelOverlap=False)
    base = Chart(drawn).encode(
        y=alt.Y("x:O", title=titles["x"], sort=order, axis=axis), **encodings
    )
    if hue:
        base = base.encode(yOffset=alt.YOffset(f"{hue}:N", sort=present))
    parts = [base.mark_bar(cornerRadiusEnd=1).encode(x=alt.X("y:Q", title=titles["y"], stack=None))]
    if "low" in drawn:
        interval = alt.X("low:Q", title=titles["y"])
        parts += edged(base.encode(x=interval, x2=alt.X2("high:Q")))
    return layered(*parts, height=_ROW * len(order) * max(len(present), 1) + _ROW)


def _renamed(
    frame: pd.DataFrame, roles: Roles, hue: str | None
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Rename drawn columns to fixed names; return the frame and the original titles by fixed name.

    The reader's column names may be any text. Further columns are kept for the tooltip.
    """
    columns = {"x": roles.x, "y": roles.y, **_ends(frame, roles.y)}
    if hue:
        columns[hue] = roles.colour
    others = [str(name) for name in frame if name not in columns.values()][:_MOST_OTHERS]
    columns |= {f"other_{place}": name for place, name in enumerate(others)}
    drawn = pd.DataFrame({name: frame[column] for name, column in columns.items()})
    drawn = drawn.replace([np.inf, -np.inf], np.nan)
    if roles.x not in numbers(frame):
        drawn["x"] = _named(roles.x, frame[roles.x])
    if hue:
        drawn[hue] = _texts(frame[roles.colour])
    return drawn, {name: _shortened(column) for name, column in columns.items()}


def _across(values: pd.Series, title: str, kind: str) -> alt.X:
    """Horizontal axis: continuous for numbers, bands for names and for a few bars."""
    is_number = pd.api.types.is_numeric_dtype(values)
    if is_number and (kind != "bars" or values.nunique() > MOST_PLACES):
        is_whole = pd.api.types.is_integer_dtype(values)
        axis = alt.Axis(labelAngle=0, tickMinStep=1, format="d") if is_whole else flat_axis()
        scale = alt.Scale(zero=False, nice=False, padding=8)
        return alt.X("x:Q", title=title, axis=axis, scale=scale)
    order = list(dict.fromkeys(values.dropna()))
    angle = -45 if len(order) > MOST_COLOURS else 0
    axis = alt.Axis(labelAngle=angle, labelOverlap=len(order) > _LABELS, labelLimit=120)
    return alt.X("x:O", title=title, sort=order, axis=axis)


def _marks(base: alt.Chart, kind: str, n: int) -> alt.Chart:
    if kind == "bars":
        return base.mark_bar(cornerRadiusEnd=1)
    if kind == "lines":
        return base.mark_line(point={"size": 36, "filled": True} if n <= _SINGLE else False)
    return base.mark_circle(size=40, opacity=0.7)


def _with_interval(marks: alt.Chart, interval: alt.Chart, kind: str) -> list[alt.Chart]:
    """Draw intervals as a band behind lines, and as rules above other marks."""
    if kind == "lines":
        return [interval.mark_area(opacity=0.18), marks]
    return [marks, *edged(interval)]


def _ends(frame: pd.DataFrame, y: str) -> dict[str, str]:
    """Columns of an interval around y: `y_low` and `y_high`, or `low` and `high`.

    Empty if no interval encloses y in all rows.
    """
    numeric = set(numbers(frame)) - {y}
    for prefix in (f"{y}_", ""):
        low, high = (f"{prefix}{end}" for end in _ENDS)
        if {low, high} <= numeric:
            known = frame[[low, high, y]].dropna()
            if len(known) and known[y].between(known[low], known[high]).all():
                return {"low": low, "high": high}
    return {}


def _texts(values: pd.Series) -> pd.Series:
    """Convert every value to text."""
    return values.astype(object).where(values.notna(), _NULL).map(str)


def _named(column: str, values: pd.Series) -> pd.Series:
    """Convert values to text, with display names where the column has some."""
    texts, known = _texts(values), NAMES.get(column)
    if known and known.colours is not None and set(texts) <= set(known.colours):
        return texts.map(known.of)
    return texts


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"
