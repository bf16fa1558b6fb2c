"""Heat maps: a coloured cell per place on two axes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, flat_axis, layered, ramp, rows_height, tooltips
from pages.charts.colours import MARKED
from pages.words.columns import title

_CELL = 26


def heat_map(
    frame: pd.DataFrame,
    *,
    x: str,
    value: str,
    format: str,
    tooltip: Sequence[str],
    y: str = "layer",
    marked: tuple[int, int] | None = None,
    across: alt.X | None = None,
) -> Any:
    """Draw one cell per y and x, the first y on top, dark to bright from 0 to the largest value.

    Args:
        tooltip: further columns that the tooltip shows.
        across: x in place of the usual one.
        marked: (y, x) of a cell to draw a frame around.
    """
    scale = alt.Scale(scheme="viridis", domain=[0, max(frame[value], default=0.0) or 1.0])
    base = Chart(frame).encode(
        x=across or alt.X(f"{x}:O", title=title(x), axis=flat_axis()),
        y=alt.Y(f"{y}:O", title=title(y)),
    )
    cells = base.mark_rect(cursor="default").encode(
        color=alt.Color(f"{value}:Q", title=title(value), scale=scale, legend=ramp(format)),
        tooltip=tooltips(dict.fromkeys((y, x, value, *tooltip)), frame, format),
    )
    height = rows_height(max(frame[y].nunique(), 1), _CELL)
    if marked is None:
        return cells.properties(height=height)
    chosen = (alt.datum[y] == marked[0]) & (alt.datum[x] == marked[1])
    ring = base.transform_filter(chosen).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
    return layered(cells, ring, height=height)
