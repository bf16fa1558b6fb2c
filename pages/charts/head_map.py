"""Maps of all heads: one clickable cell per layer and head."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    ramp_below,
    rows_height,
    tooltips,
)
from pages.charts.colours import INKS, MARKED
from pages.words.columns import titled
from pages.words.say import say

CELL = "cell"
_WIDTH = 630  # width of three maps without axes on a page of 1280 pixels
_DOT = 22  # square pixels
_AROUND = 150  # axes and legend of a map that is fitted to the page


def head_map(
    frame: pd.DataFrame,
    value: str,
    title: str | None = None,
    scale: alt.Scale | None = None,
    *,
    format: str,
    tooltip: Sequence[str] = (),
    marked: tuple[int, int] | None = None,
    name: str = CELL,
    legend_format: str = ".3~r",
    clear: str | None = None,
) -> Any:
    """A map of one value; cells that are missing stay empty.

    Args:
        title: that of the column if None.
        scale: from 0 to the largest value if None.
        tooltip: further columns that the tooltip shows.
        marked: layer and head of the cell to frame.
        name: of the selection; what is clicked has fields layer and head.
        clear: the column that says which cells are clear of 0; those that are not have a dot.
    """
    title = titled(value, title)
    axis = alt.Axis(labelAngle=0, labelFlush=False, labelOverlap=False, titlePadding=6)
    heads, layers = (sorted(frame[column].unique().tolist()) for column in ("head", "layer"))
    base = Chart(frame.dropna(subset=value)).encode(
        x=alt.X("head:O", title=titled("head", None), axis=axis, scale=alt.Scale(domain=heads)),
        y=alt.Y("layer:O", title=titled("layer", None), axis=axis, scale=alt.Scale(domain=layers)),
    )
    legend = ramp_below(190, tickCount=4, titleLimit=260, format=legend_format)
    head = [alt.Tooltip(f"{name}:O", title=say(f"axis.{name}")) for name in ("layer", "head")]
    lines = [*head, *tooltips({value: title, **dict.fromkeys(tooltip)}, frame, format)]
    scale = scale or from_zero(float(frame[value].max()))
    colour = alt.Color(f"{value}:Q", title=title, scale=scale, legend=legend)
    cells = base.mark_rect(cursor="pointer").encode(color=colour, tooltip=lines)
    height = _cell_height(frame) + _AROUND
    cells = cells.add_params(cell_selection(name, "layer", "head")).properties(height=height)
    over = []
    if clear:
        unclear = base.transform_filter(f"datum['{clear}'] === false")
        over.append(unclear.mark_circle(color=INKS[0], size=_DOT, opacity=1, tooltip=False))
    if marked is not None:
        chosen = (alt.datum["layer"] == marked[0]) & (alt.datum["head"] == marked[1])
        ring = base.transform_filter(chosen)
        over.append(ring.mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5))
    return layered(cells, *over, height=height) if over else cells


def from_zero(top: float, low: float = 0.0) -> alt.Scale:
    """Colour scale from dark at 0, or another floor, to bright at `top`."""
    return alt.Scale(scheme="viridis", domain=[low, top if top > low else low + 1])


def around_zero(values: pd.Series) -> alt.Scale:
    """Colour scale from blue below 0 to orange above, symmetric around 0."""
    reach = float(values.abs().max()) or 1.0
    return alt.Scale(scheme="blueorange", domain=[-reach, reach], domainMid=0)


def _cell_height(frame: pd.DataFrame) -> int:
    """Height of all layers together; cells are larger if there are few."""
    layers = max(frame["layer"].nunique(), 1)
    return rows_height(layers, max(16, min(28, 240 // layers)))
