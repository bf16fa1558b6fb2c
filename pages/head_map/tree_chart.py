"""The tree as a dendrogram: leaves down the page, distance across."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.head_map.apart import DISTANCE
from pages.head_map.plane_chart import MARK, ringed
from pages.head_map.tree import Tree
from pages.ui.charts.colours import IN_NO_GROUP, MARKED
from pages.ui.charts.look import cell_selection, tooltips
from pages.ui.head.choice import Head
from pages.ui.words.columns import title

_LEAF, _AROUND = 14, 60  # pixels of a leaf and of the axes


def tree_chart(
    tree: Tree, leaves: pd.DataFrame, k: int, *, colours: Mapping[str, str], marked: Head
) -> Any:
    """The chart; a click on a leaf selects its head.

    Args:
        leaves: rows layer, head, place, label, group, name.
        k: how many groups the tree is cut into.
        colours: of the groups by name, in their order.
        marked: the head of the leaf with a ring.
    """
    labels = leaves.sort_values("place")["label"].tolist()
    y = _places(labels)
    x = alt.X("x:Q", title=title(DISTANCE), axis=alt.Axis(tickCount=7, orient="top"))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("name:N", title=None, scale=scale, legend=None)
    branches = tree.branches(k)
    branches["name"] = branches["group"].map(leaves.groupby("group")["name"].first())
    lines = alt.Chart(branches).mark_rule(strokeWidth=1.6).encode(x=x, x2="x2", y=y, y2="y2")
    below = lines.transform_filter("datum.group > 0").encode(color=colour)
    above = lines.transform_filter("datum.group === 0").encode(color=alt.value(IN_NO_GROUP))
    dots = alt.Chart(leaves.assign(x=0.0, y=leaves["place"])).encode(x=x, y=y)
    tooltip = tooltips(dict.fromkeys(("layer", "head", "name")), leaves, ".2f")
    marks = (
        dots.mark_circle(size=70, opacity=1, cursor="pointer")
        .encode(color=colour, tooltip=tooltip)
        .add_params(cell_selection(MARK, "layer", "head"))
    )
    cut = alt.Chart(pd.DataFrame({"x": [tree.cut(k)]})).encode(x=x)
    edge = cut.mark_rule(strokeDash=[6, 4], strokeWidth=1.6, color=MARKED)
    layers = (below, above, edge, marks, ringed(dots, marked, size=210))
    return alt.layer(*layers).properties(height=_LEAF * len(labels) + _AROUND)


def _places(labels: list[str]) -> alt.Y:
    """An axis of whole places, each with the label of its leaf."""
    axis = alt.Axis(
        values=list(range(len(labels))),
        labelExpr=f"{labels}[datum.value]",
        labelOverlap=False,
        ticks=False,
        grid=False,
        domain=False,
        labelPadding=10,
    )
    scale = alt.Scale(domain=[-0.7, len(labels) - 0.3], nice=False, zero=False, reverse=True)
    return alt.Y("y:Q", title=title("leaf"), scale=scale, axis=axis)
