"""Heads as points of a plane in which a nat is as long across as up."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.charts.look import tooltips
from pages.ui.words.say import say

HEAD = "mark"
"""Name of the selection; what is clicked has fields layer and head."""
RING = "#ff5a36"
_HEIGHT, _SIZE = 480, 90
_ROOM = 1.08  # of what the points need, so that none is cut off


def plane_chart(
    points: pd.DataFrame,
    *,
    colour: alt.Color,
    shape: alt.Shape | None = None,
    told: Mapping[str, str],
    marked: tuple[int, int],
) -> Any:
    """The chart; a click on a point tells its head.

    Args:
        points: rows layer, head, x, y, and what colour and shape stand for.
        told: titles of further columns that the tooltip names.
        marked: layer and head of the point with a ring.
    """
    base = alt.Chart(points).encode(x=_axis(points, "x"), y=_axis(points, "y"))
    pick = alt.selection_point(name=HEAD, fields=["layer", "head"], on="click", empty=False)
    titles: dict[str | None, str | None] = {
        "layer": say("axis.layer"),
        "head": say("axis.head"),
        **told,
    }
    marks = (
        base.mark_point(filled=True, size=_SIZE, opacity=1, cursor="pointer", stroke="#80808080")
        .encode(color=colour, tooltip=tooltips(titles, points, ".2f"))
        .add_params(pick)
    )
    if shape is not None:
        marks = marks.encode(shape=shape)
    chosen = base.transform_filter(
        (alt.datum["layer"] == marked[0]) & (alt.datum["head"] == marked[1])
    )
    ring = chosen.mark_point(
        size=_SIZE * 3, stroke=RING, strokeWidth=2.5, fillOpacity=0, aria=False
    )
    return alt.layer(marks, ring).properties(height=_HEIGHT)


def named_colour(colours: Mapping[str, str], field: str) -> alt.Color:
    """A column of names in their own colours, with a legend above the chart."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", title=None, scale=scale, legend=_legend())


def named_shape(shapes: Mapping[str, str], field: str) -> alt.Shape:
    scale = alt.Scale(domain=list(shapes), range=list(shapes.values()))
    return alt.Shape(f"{field}:N", title=None, scale=scale, legend=_legend())


def _legend() -> alt.Legend:
    return alt.Legend(orient="top", labelLimit=0, columns=3, symbolOpacity=1)


def layer_colour() -> alt.Color:
    """Layers from dark to light, the last one the lightest."""
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])
    legend = alt.Legend(orient="top", labelLimit=0, columns=12, symbolOpacity=1)
    return alt.Color(
        "layer:O", title=say("axis.layer"), scale=alt.Scale(scheme=scheme), legend=legend
    )


def _axis(points: pd.DataFrame, name: str) -> Any:
    """An axis around 0 on which a nat has the length that it has on the other one."""
    reach = {axis: _ROOM * max(float(points[axis].abs().max()), 1e-6) for axis in ("x", "y")}
    side, other = ("width", "height") if name == "x" else ("height", "width")
    crossed = "y" if name == "x" else "x"
    half = f"max({reach[name]}, {reach[crossed]} * {side} / {other})"
    scale = alt.Scale(domain=[alt.ExprRef(f"-{half}"), alt.ExprRef(half)], nice=False, zero=False)
    encoding = alt.X if name == "x" else alt.Y
    axis = alt.Axis(tickCount=5, format=".1f", grid=True)
    return encoding(f"{name}:Q", title=say(f"head_map.axis_{name}"), scale=scale, axis=axis)
