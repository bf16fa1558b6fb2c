"""Frame in, Altair chart out, all of one look. Types are explicit, so that export needs no guess.

Colours are readable on light and on dark ground and are told apart by people who see few hues.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import EDGES, MARKED, ZERO
from pages.ui.charts.look import (
    Scale,
    cell_selection,
    coloured,
    flat_axis,
    log_scale,
    powers,
    ramp,
    tooltips,
)
from pages.ui.words.columns import NAMED, NAMES, title, titled

POINT = "point"
"""What the selection of a clicked point is called."""


def bars(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    colour: str | None = None,
    low: str | None = None,
    high: str | None = None,
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
    """Bars side by side, one group per x and one bar per colour, with rules from low to high where
    there is an interval at all.

    Args:
        x_title: that of the column if None, as `y_title`.
        order: of the groups, from left to right; that of the alphabet if None.
        colours: of the names in the colour column, in the order of the legend.
        domain: the ends of the y axis.
        tooltip: further columns that the tooltip shows.
    """
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    frame, encoding, present = coloured(frame, colour, colour_title, colours)
    if x in NAMES:
        frame, x = frame.assign(**{f"{x}{NAMED}": frame[x].map(NAMES[x].of)}), f"{x}{NAMED}"
    beside: dict[str, Any] = {"xOffset": alt.XOffset(f"{colour}:N", sort=present)} if colour else {}
    titles = {x: x_title, colour: colour_title, y: y_title, low: None, high: None}
    base = alt.Chart(frame).encode(
        x=alt.X(f"{x}:O", title=x_title, axis=flat_axis(), sort=order or alt.Undefined),
        **beside,
        tooltip=tooltips(titles | {name: title(name) for name in tooltip}, frame, format),
    )
    marks = base.mark_bar(cornerRadiusEnd=1).encode(
        y=alt.Y(
            f"{y}:Q",
            title=y_title,
            scale=alt.Scale(domain=domain) if domain else alt.Undefined,
            axis=alt.Axis(tickCount=6, format=tick_format or alt.Undefined),
        ),
        color=encoding,
    )
    if low is None or high is None:
        return marks.properties(height=height)
    if frame[low].isna().all():
        return alt.layer(marks).properties(height=height)
    ends = {"y": alt.Y(f"{low}:Q", title=y_title), "y2": alt.Y2(high)}
    rules = [
        base.mark_rule(color=line, strokeWidth=width).encode(**ends)
        for line, width in zip(EDGES, (3.5, 1.5), strict=True)
    ]
    return alt.layer(marks, *rules).properties(height=height)


def heat_map(
    frame: pd.DataFrame,
    *,
    value: str,
    title: str,
    x: str = "head",
    y: str = "layer",
    x_title: str | None = None,
    y_title: str | None = None,
    scheme: Any = "viridis",
    domain: Sequence[float] | None = None,
    format: str = ".3f",
    tooltip: Sequence[str] = (),
    pick: str | None = None,
    marked: tuple[int, int] | None = None,
    cell: int = 26,
    across: alt.X | None = None,
) -> Any:
    """One cell per y and x, the first y on top.

    Args:
        tooltip: further columns that the tooltip shows.
        across: x in place of the usual one.
        pick: name of a selection of one cell, to be read as
            `event["selection"][pick][0][y]`; a second click clears it.
        marked: (y, x) of a cell to draw a frame around.
    """
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    midpoint = {"domainMid": 0} if domain is None and scheme.startswith("red") else {}
    told: dict[str, Any] = {"scheme": scheme} | ({"domain": list(domain)} if domain else midpoint)
    scale = alt.Scale(**told)
    further: dict[str | None, str | None] = {each: titled(each, None) for each in tooltip}
    base = alt.Chart(frame).encode(
        x=across or alt.X(f"{x}:O", title=x_title, axis=flat_axis()),
        y=alt.Y(f"{y}:O", title=y_title),
    )
    cells = base.mark_rect(cursor="pointer" if pick else "default").encode(
        color=alt.Color(f"{value}:Q", title=title, scale=scale, legend=ramp(format)),
        tooltip=tooltips({y: y_title, x: x_title, value: title} | further, frame, format),
    )
    if pick:
        cells = cells.add_params(cell_selection(pick, y, x))
    height = cell * max(frame[y].nunique(), 1)
    if marked is None:
        return cells.properties(height=height)
    frame_of_cell = base.transform_filter(
        (alt.datum[y] == marked[0]) & (alt.datum[x] == marked[1])
    ).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
    return alt.layer(cells, frame_of_cell).properties(height=height)


def density(
    frame: pd.DataFrame,
    *,
    x: str,
    x2: str,
    y: str,
    y2: str,
    x_title: str | None = None,
    y_title: str | None = None,
    value: str = "n",
    title: str,
    scheme: Any = "viridis",
    height: int = 360,
) -> Any:
    """Rectangles with given edges on log axes, coloured by the log of a count."""
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=log_scale(), axis=powers()),
            x2=alt.X2(x2),
            y=alt.Y(f"{y}:Q", title=y_title, scale=log_scale(), axis=powers()),
            y2=alt.Y2(y2),
            color=alt.Color(
                f"{value}:Q",
                title=title,
                scale=alt.Scale(type="log", scheme=scheme),
                legend=ramp("~s"),
            ),
            tooltip=tooltips({x: x_title, y: y_title, value: title}, frame, ".3~g"),
        )
        .properties(height=height)
    )


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    colour: str | None = None,
    low: str | None = None,
    high: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    colour_title: str | None = None,
    colours: Mapping[str, str] | None = None,
    y_scale: Scale = "linear",
    zero: bool = True,
    points: bool = True,
    level: float | None = None,
    format: str = ".3f",
    height: int = 300,
) -> Any:
    """One line per colour over a whole-numbered x, with a band from low to high where there is an
    interval at all.

    Args:
        x_title: that of the column if None, as `y_title`.
        colours: of the names in the colour column, in the order of the legend.
        level: a value to draw a line across the chart at.
    """
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    frame, encoding, _ = coloured(frame, colour, colour_title, colours)
    told = {x: x_title, colour: colour_title, y: y_title, low: None, high: None}
    base = alt.Chart(frame).encode(
        x=alt.X(
            f"{x}:Q",
            title=x_title,
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(labelAngle=0, tickMinStep=1, format="d"),
        ),
        color=encoding,
        tooltip=tooltips(told, frame, format),
    )
    scale = alt.Scale(type=y_scale) if y_scale == "log" else alt.Scale(type=y_scale, zero=zero)
    drawn = base.mark_line(point={"size": 36, "filled": True} if points else False).encode(
        y=alt.Y(f"{y}:Q", title=y_title, scale=scale)
    )
    if low is None and high is None and level is None:
        return drawn.properties(height=height)
    parts = [] if level is None else [across(level)]
    if low is not None and high is not None and frame[low].notna().any():
        ends = {"y": alt.Y(f"{low}:Q", title=y_title, scale=scale), "y2": alt.Y2(high)}
        parts.append(base.mark_area(opacity=0.18).encode(**ends))
    return alt.layer(*parts, drawn).properties(height=height)


def across(level: float) -> alt.Chart:
    """A line across a chart at a value of y."""
    at = pd.DataFrame({"level": [level]})
    return alt.Chart(at).mark_rule(color=ZERO).encode(y="level:Q")


def points(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    colour: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    colour_title: str | None = None,
    tooltip: dict[str, str] | None = None,
    scale: Scale = "log",
    height: int = 360,
) -> Any:
    """One point per row; `tooltip` names further columns to tell."""
    x_title, y_title = titled(x, x_title), titled(y, y_title)
    frame, encoding, _ = coloured(frame, colour, colour_title)
    told = {x: x_title, y: y_title, colour: colour_title or colour} | (tooltip or {})
    axis = powers() if scale == "log" else alt.Axis()
    return (
        alt.Chart(frame)
        .mark_circle(size=22, opacity=0.5)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type=scale), axis=axis),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(type=scale), axis=axis),
            color=encoding,
            tooltip=tooltips(told, frame, ".3~g"),
        )
        .properties(height=height)
    )


def scatter(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    tooltip: Sequence[str],
    colour: str | None = None,
    x_scale: Scale = "log",
    level: float | None = None,
    pick: Sequence[str] = (),
    size: int = 26,
    format: str = ".3f",
    height: int = 360,
) -> Any:
    """One point per row, with the axes closely around the points.

    Args:
        tooltip: every column that the tooltip shows.
        level: a value of y to draw a line across the chart at.
        pick: the columns that a click on a point gives back; none makes nothing of a click.
    """
    titles: dict[str | None, str | None] = {each: title(each) for each in tooltip}
    frame, encoding, _ = coloured(frame, colour, " ")
    is_log = x_scale == "log"
    close: dict[str, Any] = {"nice": False, "padding": 8} if is_log else {"zero": False}
    marks = (
        alt.Chart(frame)
        .mark_circle(size=size, opacity=0.5, cursor="pointer" if pick else "default")
        .encode(
            x=alt.X(
                f"{x}:Q",
                title=title(x),
                scale=alt.Scale(type=x_scale, **close),
                axis=alt.Axis(format="d" if is_log else alt.Undefined, tickCount=6),
            ),
            y=alt.Y(f"{y}:Q", title=title(y), scale=alt.Scale(zero=False, padding=8)),
            color=encoding,
            tooltip=tooltips(titles, frame, format),
        )
    )
    if pick:
        marks = marks.add_params(cell_selection(POINT, *pick))
    if level is None:
        return marks.properties(height=height)
    return alt.layer(across(level), marks).properties(height=height)
