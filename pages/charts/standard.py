"""Bar and line charts of a frame; types are explicit, so that an export needs no inference."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    IN_TWO_LINES,
    Chart,
    Scale,
    across,
    coloured,
    edged,
    flat_axis,
    layered,
    tooltips,
)
from pages.words.columns import NAMED, NAMES, names_in_paper, title, titled

_ENDS = ("low", "high")
_MOST_BARS = 48  # that are not hair-thin on half a page
_POINT, _BAND = {"size": 36, "filled": True}, 0.18


def bars(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    colour: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    colour_title: str | None = None,
    order: Sequence[str] | None = None,
    colours: Mapping[str, str] | None = None,
    domain: tuple[float, float] | None = None,
    tick_format: str | None = None,
    tooltip: Sequence[str] = (),
    format: str = ".3f",
    height: int = 300,
) -> Any:
    """Draw bars side by side, one group per x and one bar per colour.

    Rules show the interval if the frame has the columns low and high with values. Layers that are
    too many for bars have a line per colour, with a band.

    Args:
        x_title: that of the column if None, as `y_title`.
        order: of the groups, from left to right; alphabetical if None.
        colours: of the names in the colour column, in the order of the legend.
        domain: the ends of the y axis.
        tooltip: further columns that the tooltip shows.
    """
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    frame, encoding, present = coloured(frame, colour, colour_title, colours)
    lines = {"labelExpr": IN_TWO_LINES, "labelOverlap": False} if x == "scope" else {}
    if x in NAMES:
        named = {f"{x}{NAMED}": frame[x].map(NAMES[x].of)} | names_in_paper(frame, x)
        frame, x = frame.assign(**named), f"{x}{NAMED}"
    is_crowded = x == "layer" and frame[x].nunique() * max(len(present), 1) > _MOST_BARS
    beside: dict[str, Any] = {}
    if colour and not is_crowded:
        beside = {"xOffset": alt.XOffset(f"{colour}:N", sort=present)}
    ends = _ENDS if set(_ENDS) <= set(frame) else ()
    titles = {x: x_title, colour: colour_title, y: y_title, **dict.fromkeys(ends)}
    base = Chart(frame).encode(
        x=alt.X(f"{x}:O", title=x_title, axis=flat_axis(**lines), sort=order or alt.Undefined),
        **beside,
        tooltip=tooltips(titles | {name: title(name) for name in tooltip}, frame, format),
    )
    bare = base.mark_line(point=_POINT) if is_crowded else base.mark_bar(cornerRadiusEnd=1)
    marks = bare.encode(
        y=alt.Y(
            f"{y}:Q",
            title=y_title,
            scale=alt.Scale(domain=domain) if domain else alt.Undefined,
            axis=alt.Axis(tickCount=6, format=tick_format or alt.Undefined),
        ),
        color=encoding,
    )
    if not ends:
        return marks.properties(height=height)
    if frame["low"].isna().all():
        return layered(marks, height=height)
    interval = base.encode(y=alt.Y("low:Q", title=y_title), y2=alt.Y2("high"))
    if is_crowded:
        band = interval.mark_area(opacity=_BAND).encode(color=encoding)
        return layered(band, marks, height=height)
    return layered(marks, *edged(interval), height=height)


def lines(
    frame: pd.DataFrame,
    *,
    y: str,
    x: str = "layer",
    colour: str | None = None,
    y_title: str | None = None,
    colour_title: str | None = None,
    colours: Mapping[str, str] | None = None,
    zero: bool = True,
    points: bool = True,
    columns: int | None = None,
    level: float | None = None,
    ends: tuple[str, str] = _ENDS,
    dashed: Sequence[str] = (),
    y_scale: Scale = "linear",
    format: str = ".3f",
    height: int = 300,
) -> Any:
    """Draw one line per colour over layers, or over another whole-numbered x.

    A band shows the interval if the frame has the columns of its ends with values.

    Args:
        y_title: that of the column if None.
        colours: of the names in the colour column, in the order of the legend.
        columns: of the legend; as many as fit on a page if None.
        level: a value to draw a line across the chart at.
        ends: the columns of the band's ends.
        dashed: the names in the colour column whose lines are references.
        y_scale: one that is not linear has no 0.
    """
    x_title, y_title = title(x), titled(y, y_title)
    frame, encoding, _ = coloured(frame, colour, colour_title, colours)
    if columns is not None:
        encoding["legend"]["columns"] = columns
    given = ends if set(ends) <= set(frame) else ()
    titles = {x: x_title, colour: colour_title, y: y_title, **dict.fromkeys(given)}
    base = Chart(frame).encode(
        x=alt.X(
            f"{x}:Q",
            title=x_title,
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(labelAngle=0, tickMinStep=1, format="d"),
        ),
        color=encoding,
        tooltip=tooltips(titles, frame, format),
    )
    is_linear = y_scale == "linear"
    scale = alt.Scale(type=y_scale, zero=zero if is_linear else alt.Undefined)
    drawn = base.mark_line(point=_POINT if points else False).encode(
        y=alt.Y(f"{y}:Q", title=y_title, scale=scale)
    )
    if dashed:
        of_reference = alt.FieldOneOfPredicate(field=str(colour), oneOf=list(dashed))
        dash = alt.condition(of_reference, alt.value([6, 4]), alt.value([1, 0]))
        drawn = drawn.encode(strokeDash=dash)
    if not given and level is None:
        return drawn.properties(height=height)
    parts = [] if level is None else [across(level)]
    if given and frame[given[0]].notna().any():
        low, high = given
        band = base.encode(y=alt.Y(f"{low}:Q", title=y_title, scale=scale), y2=alt.Y2(high))
        parts.append(band.mark_area(opacity=_BAND))
    return layered(*parts, drawn, height=height)
