"""Groups of heads that attend alike: the tree cut into a number of groups that the reader picks."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.heads import head_arrangement, head_distance
from pages.head_map.apart import DISTANCE, most_unlike, nats
from pages.head_map.plane_chart import MARK, plane_chart
from pages.head_map.tree import Tree
from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    ringed,
    rows_height,
    tooltips,
)
from pages.ui.charts.colours import GROUP_COLOURS, IN_NO_GROUP, MARKED
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads, has_habits
from pages.ui.head.choice import Head, to_head
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_AT_FIRST = 6
_WHOLE = ["layer", "head", "place", "group"]
_LEAF, _LEAST_LEAF, _AROUND = 14, 3, 110  # pixels of a leaf and of the axes


@section("groups", head_arrangement.LINKAGE, head_distance.TABLE)
def groups(view: View) -> None:
    weighing = view.pick_weighing()
    tree = Tree(view.ask(head_arrangement.steps, weighing=weighing))
    most = min(len(GROUP_COLOURS), tree.n_heads)
    k = view.number("k", 2, most, min(_AT_FIRST, most))
    leaves = _leaves(view, tree, k)
    pairs = _pairs(view, leaves, weighing)
    view.finding(_finding(view, leaves, pairs, k))
    points = view.ask(head_arrangement.layout, weighing=weighing).merge(
        leaves, on=["layer", "head"]
    )
    names = leaves.sort_values("group")["name"].unique()
    colours: Mapping[str, str] = dict(zip(names, GROUP_COLOURS, strict=False))
    head = pick_head(view, default=most_unlike(view))
    left, right = view.columns(2)
    drawn = {"state": (weighing, k, *head), "click": to_head}
    with left:
        parts = _tree_parts(tree, leaves, k)
        chart = _tree_chart(view.store, *parts, colours=colours, marked=head)
        shown = pd.concat(parts, ignore_index=True)
        shown[_WHOLE] = shown[_WHOLE].astype("Int64")
        view.figure("tree", shown, chart, weighing=weighing, **drawn)
    with right:
        if len(points):
            chart = plane_chart(points, colours=colours, marked=head)
            view.figure("plane", points, chart, **drawn)
    _table(view, leaves, pairs, state=(k, weighing))


def _leaves(view: View, tree: Tree, k: int) -> pd.DataFrame:
    """Position among the leaves and group of every head.

    Returns:
        layer, head, place, label, group, name.
    """
    layer, head = np.divmod(np.arange(tree.n_heads), int(view.store.run["n_heads"]))
    places = {"place": np.argsort(tree.leaves), "group": tree.groups(k)}
    leaves = pd.DataFrame({"layer": np.array(view.store.layers)[layer], "head": head + 1, **places})
    return leaves.assign(
        label=leaves["layer"].astype(str) + "-" + leaves["head"].astype(str),
        name=[view.say("name", group=group) for group in leaves["group"]],
    )


def _pairs(inquiry: Inquiry, leaves: pd.DataFrame, weighing: str) -> pd.DataFrame:
    """Every pair of heads, in either order, with its groups: group_a, group_b, mean_divergence."""
    frame = inquiry.ask(head_distance.distances, weighing=weighing)
    frame = frame.query("layer_a != layer_b or head_a != head_b")
    for side in ("_a", "_b"):
        grouped = leaves[["layer", "head", "group"]].add_suffix(side)
        frame = frame.merge(grouped, on=[f"layer{side}", f"head{side}"])
    return frame


def _finding(view: View, leaves: pd.DataFrame, pairs: pd.DataFrame, k: int) -> str:
    """Give the sizes of the groups and the mean distance within and between groups."""
    sizes = leaves["group"].value_counts()
    alone = int((sizes == 1).sum())
    finding = view.say("finding", k=k, most=int(sizes.iloc[0]), n=len(leaves), alone=alone)
    same = pairs["group_a"] == pairs["group_b"]
    within, between = (pairs.loc[mask, DISTANCE].mean() for mask in (same, ~same))
    if pd.isna(within):
        return finding
    return f"{finding} {view.say('apart', within=nats(within), between=nats(between))}"


def _table(view: View, leaves: pd.DataFrame, pairs: pd.DataFrame, state: tuple) -> None:
    """Tabulate the groups: size, mean distance within, layers, main habit and heads."""
    same = pairs[pairs["group_a"] == pairs["group_b"]]
    within = same.groupby("group_a")[DISTANCE].mean()
    rows = leaves.sort_values("place")
    columns = ["group", "n", "within", "layers", "heads"]
    if has_habits(view.store):
        habits = behaviours_of_heads(view, weighing=state[-1])[["layer", "head", "behaviour"]]
        rows = rows.merge(habits, on=["layer", "head"], how="left")
        columns.insert(-1, "mostly")
    comma = say("list.comma")
    frame = pd.DataFrame(
        {
            "group": group,
            "n": len(part),
            "within": within.get(group),
            "layers": comma.join(map(str, sorted(part["layer"].unique()))),
            "mostly": _mostly(view, part) if has_habits(view.store) else None,
            "heads": comma.join(part["label"]),
        }
        for group, part in rows.groupby("group")
    )
    view.table("table", frame, columns, state=state)


def _mostly(view: View, part: pd.DataFrame) -> str | None:
    """Most frequent main habit of a group's heads, with its share of them."""
    counts = part["behaviour"].value_counts()
    if counts.empty:
        return None
    name, share = behaviour_name(str(counts.index[0])), percent(counts.iloc[0] / len(part))
    return view.say("mostly", name=name, share=share)


def _tree_parts(
    tree: Tree, leaves: pd.DataFrame, k: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Leaves at (x, y), branches from there to (x2, y2), and the x where k groups are cut."""
    branches = tree.branches(k)
    branches["name"] = branches["group"].map(leaves.groupby("group")["name"].first())
    return leaves.assign(x=0.0, y=leaves["place"]), branches, pd.DataFrame({"x": [tree.cut(k)]})


def _tree_chart(
    store: Store,
    leaves: pd.DataFrame,
    branches: pd.DataFrame,
    cut: pd.DataFrame,
    *,
    colours: Mapping[str, str],
    marked: Head,
) -> Any:
    """Draw the dendrogram, distance to the right; a click on a leaf selects its head.

    Args:
        colours: of the groups by name, in their order.
    """
    labels = leaves.sort_values("place")["label"].tolist()
    y, leaf = _places(labels), rows_height(len(labels), _LEAF, least=_LEAST_LEAF) // len(labels)
    x = alt.X("x:Q", title=title(DISTANCE), axis=alt.Axis(tickCount=7, orient="top"))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("name:N", title=None, scale=scale, legend=None)
    lines = (
        Chart(branches)
        .mark_rule(strokeWidth=1.6)
        .encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"))
    )
    below = lines.transform_filter("datum.group > 0").encode(color=colour)
    above = lines.transform_filter("datum.group === 0").encode(color=alt.ColorValue(IN_NO_GROUP))
    dots = Chart(leaves).encode(x=x, y=y)
    tooltip = tooltips(dict.fromkeys(("layer", "head", "name")), leaves, ".2f")
    marks = (
        dots.mark_circle(size=5 * leaf, opacity=1, cursor="pointer")
        .encode(color=colour, tooltip=tooltip)
        .add_params(cell_selection(MARK, "layer", "head"))
    )
    edge = Chart(cut).mark_rule(strokeDash=[6, 4], strokeWidth=1.6, color=MARKED).encode(x=x)
    layers = (below, above, edge, marks, ringed(dots, marked, size=210))
    return layered(*layers, height=leaf * len(labels) + _AROUND)


def _places(labels: list[str]) -> alt.Y:
    """Axis of leaves, with as many of their labels as have room."""
    axis = alt.Axis(
        values=list(range(len(labels))),
        labelExpr=f"{labels}[datum.value]",
        labelOverlap=True,
        ticks=False,
        grid=False,
        domain=False,
        labelPadding=10,
    )
    scale = alt.Scale(domain=[-0.7, len(labels) - 0.3], nice=False, zero=False, reverse=True)
    return alt.Y("y:Q", title=title("leaf"), scale=scale, axis=axis)
