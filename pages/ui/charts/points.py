"""Clouds of points, one by one or counted in cells."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.look import (
    Scale,
    across,
    cell_selection,
    coloured,
    log_scale,
    powers,
    ramp,
    tooltips,
)
from pages.ui.words.columns import title, titled

POINT = "point"
"""What the selection of a clicked point is called."""


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
