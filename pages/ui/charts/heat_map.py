"""Cells in colours, one per place on two axes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.colours import MARKED
from pages.ui.charts.look import (
    cell_selection,
    flat_axis,
    ramp,
    tooltips,
)
from pages.ui.words.columns import titled


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
