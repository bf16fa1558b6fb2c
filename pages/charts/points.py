"""Scatter plots."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    Scale,
    across,
    cell_selection,
    coloured,
    layered,
    tooltips,
)
from pages.charts.encodings import of_layers
from pages.words.columns import title

POINT = "point"
"""Name of the selection of a clicked point."""


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
    is_layer = colour == "layer"  # of which there may be more than there are colours of names
    frame, encoding, _ = coloured(frame, None if is_layer else colour, " ")
    encoding = of_layers(frame) if is_layer else encoding
    is_log = x_scale == "log"
    close: dict[str, Any] = {"nice": False, "padding": 8} if is_log else {"zero": False}
    marks = (
        Chart(frame)
        .mark_circle(
            size=size, opacity=0.8 if is_layer else 0.5, cursor="pointer" if pick else "default"
        )
        .encode(
            x=alt.X(
                f"{x}:Q",
                title=title(x),
                scale=alt.Scale(type=x_scale, **close),
                axis=alt.Axis(format="d" if is_log else alt.Undefined, tickCount=6),
            ),
            y=alt.Y(f"{y}:Q", title=title(y), scale=alt.Scale(zero=False, padding=8)),
            color=encoding,
            tooltip=tooltips(dict.fromkeys(tooltip), frame, format),
        )
    )
    if pick:
        marks = marks.add_params(cell_selection(POINT, *pick))
    if level is None:
        return marks.properties(height=height)
    return layered(across(level), marks, height=height)
