"""All distances as one square of cells."""

from typing import Any

import altair as alt
import pandas as pd

from pages.head_map.plane_chart import HEAD, RING
from pages.ui.charts.look import tooltips
from pages.ui.words.say import say

_SIDE = 640
_OVERLAP = 1.04  # a little more than a place, lest the ground shines through between cells


def matrix_chart(frame: pd.DataFrame, *, by_layer: bool, marked: tuple[int, int]) -> Any:
    """The chart; a click on a cell tells the head of its row.

    Args:
        frame: rows layer, head, layer_b, head_b, mean_divergence, x, y; places from 0.
        by_layer: whether heads stand in the order of layers, which are then named at the edges.
        marked: layer and head of the row with a frame around it.
    """
    n = int(frame["y"].max()) + 1
    shown = frame.assign(x2=frame["x"] + _OVERLAP, y2=frame["y"] + _OVERLAP)
    x, y = (_axis(frame, side, n=n, by_layer=by_layer) for side in ("x", "y"))
    pick = alt.selection_point(name=HEAD, fields=["layer", "head"], on="click", empty=False)
    told: dict[str | None, str | None] = {
        "layer": say("head_map.distances.layer_a"),
        "head": say("head_map.distances.head_a"),
        "layer_b": say("head_map.distances.layer_b"),
        "head_b": say("head_map.distances.head_b"),
        "mean_divergence": say("head_map.distance_axis"),
    }
    legend = alt.Legend(format=".1f", gradientLength=220, orient="right")
    cells = (
        alt.Chart(shown)
        .mark_rect(cursor="pointer")
        .encode(
            x=x,
            y=y,
            x2="x2",
            y2="y2",
            color=alt.Color(
                "mean_divergence:Q",
                title=say("head_map.distance_short"),
                scale=alt.Scale(scheme="viridis", domainMin=0, reverse=True),
                legend=legend,
            ),
            tooltip=tooltips(told, shown, ".3f"),
        )
        .add_params(pick)
    )
    row = shown[(shown["layer"] == marked[0]) & (shown["head"] == marked[1])].head(1)
    ring = (
        alt.Chart(row.assign(x=0, x2=n, y2=row["y"] + 1))
        .mark_rect(filled=False, stroke=RING, strokeWidth=2, aria=False, tooltip=False)
        .encode(x=x, x2="x2", y=y, y2="y2")
    )
    return alt.layer(cells, ring).properties(height=_SIDE)


def _axis(frame: pd.DataFrame, side: str, *, n: int, by_layer: bool) -> Any:
    """Places of heads; the middles of the layers bear their numbers."""
    scale = alt.Scale(domain=[0, n], nice=False, zero=False, reverse=side == "y")
    encoding = alt.X if side == "x" else alt.Y
    if not by_layer:
        title = say("head_map.distances.heads_alike")
        return encoding(
            f"{side}:Q",
            title=title,
            scale=scale,
            axis=alt.Axis(labels=False, ticks=False, grid=False),
        )
    width = n / frame["layer"].nunique()
    middles = [width * (number + 0.5) for number in range(frame["layer"].nunique())]
    axis = alt.Axis(
        values=middles,
        labelExpr=f"floor(datum.value / {width}) + 1",
        ticks=False,
        grid=False,
        labelAngle=0,
    )
    title = say("head_map.distances.heads_by_layer")
    return encoding(f"{side}:Q", title=title, scale=scale, axis=axis)
