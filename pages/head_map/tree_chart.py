"""The tree as a dendrogram: leaves down the page, distance across."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.head_map.plane_chart import HEAD, RING
from pages.ui.charts.look import tooltips
from pages.ui.words.say import say

_LEAF, _AROUND = 14, 60  # pixels of a leaf and of the axes
_ABOVE = "#808995"


def tree_chart(
    branches: pd.DataFrame,
    leaves: pd.DataFrame,
    *,
    colours: Mapping[str, str],
    cut: float,
    marked: tuple[int, int],
) -> Any:
    """The chart; a click on a leaf tells its head.

    Args:
        branches: rows x, x2, y, y2, name (none above the cut).
        leaves: rows layer, head, place, label, name.
        colours: of the groups by name, in their order.
        marked: layer and head of the leaf with a ring.
    """
    labels = leaves.sort_values("place")["label"].tolist()
    y_axis = alt.Axis(
        values=list(range(len(labels))),
        labelExpr=f"{labels}[datum.value]",
        labelOverlap=False,
        ticks=False,
        grid=False,
        domain=False,
        labelPadding=10,
    )
    places = alt.Scale(domain=[-0.7, len(labels) - 0.3], nice=False, zero=False, reverse=True)
    y = alt.Y("y:Q", title=say("head_map.groups.leaf"), scale=places, axis=y_axis)
    x = alt.X("x:Q", title=say("head_map.distance_axis"), axis=alt.Axis(tickCount=7, orient="top"))
    colour = alt.Color(
        "name:N",
        title=None,
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=None,
    )
    lines = alt.Chart(branches).mark_rule(strokeWidth=1.6).encode(x=x, x2="x2", y=y, y2="y2")
    below = lines.transform_filter("datum.group > 0").encode(color=colour)
    above = lines.transform_filter("datum.group === 0").encode(color=alt.value(_ABOVE))
    dots = alt.Chart(leaves.assign(x=0.0, y=leaves["place"])).encode(x=x, y=y)
    pick = alt.selection_point(name=HEAD, fields=["layer", "head"], on="click", empty=False)
    titles: dict[str | None, str | None] = {
        "layer": say("axis.layer"),
        "head": say("axis.head"),
        "name": say("head_map.groups.group"),
    }
    marks = (
        dots.mark_circle(size=70, opacity=1, cursor="pointer")
        .encode(color=colour, tooltip=tooltips(titles, leaves, ".2f"))
        .add_params(pick)
    )
    chosen = (alt.datum["layer"] == marked[0]) & (alt.datum["head"] == marked[1])
    ring = dots.transform_filter(chosen).mark_point(
        size=210, stroke=RING, strokeWidth=2.5, fillOpacity=0, aria=False
    )
    line = alt.Chart(pd.DataFrame({"x": [cut]})).encode(x=x)
    edge = line.mark_rule(strokeDash=[6, 4], strokeWidth=1.6, color=RING)
    height = _LEAF * len(labels) + _AROUND
    return alt.layer(below, above, edge, marks, ring).properties(height=height)
