"""Tree of heads that attend alike, cut into groups."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    layered,
    ringed,
    rows_height,
    tooltips,
)
from pages.charts.colours import GROUP_COLOURS, IN_NO_GROUP, MARKED
from pages.head_map.plane import MARK, plane
from pages.kit.head_choice import short_name
from pages.kit.section import Choices
from pages.words.columns import title
from pages.words.scope import say_here

_LEAF, _LEAST_LEAF, _AROUND = 14, 3, 110  # pixels of a leaf and of the axes
_NAMED = 12  # least pixels of a leaf with a name


def tree_parts(steps: pd.DataFrame, heads: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the leaves, branches and cut of a tree of k groups.

    Args:
        steps: left, right and height of every merge of two nodes; the heads are the first nodes.
        heads: layer and head of each.

    Returns:
        rows x, y, group (0 above the cut); of leaves, at x = 0, also layer, head, place and
        label; of branches also their other ends x2 and y2; of the cut only x.
    """
    n = len(heads)
    pairs = list(zip(steps["left"].tolist(), steps["right"].tolist(), strict=True))
    under = {head: [head] for head in range(n)}
    for node, (left, right) in enumerate(pairs, start=n):
        under[node] = under[left] + under[right]
    order = under[2 * n - 2]
    root = {head: node for node in range(2 * n - k) for head in under[node]}  # the largest last
    number = {node: at for at, node in enumerate(dict.fromkeys(root[h] for h in order), start=1)}
    group = {node: number[root[under[node][0]]] for node in range(2 * n - k)}
    place = {head: float(at) for at, head in enumerate(order)}
    height = dict.fromkeys(range(n), 0.0)
    leaves = heads.assign(
        place=[int(place[head]) for head in range(n)],
        group=[group[head] for head in range(n)],
        label=[short_name(*row) for row in heads[["layer", "head"]].itertuples(index=False)],
        x=0.0,
    )
    lines = []
    for (node, pair), top in zip(enumerate(pairs, start=n), steps["height"], strict=True):
        place[node], height[node] = sum(place[child] for child in pair) / 2, float(top)
        ends = [(height[one], top, place[one], place[one], group.get(one, 0)) for one in pair]
        lines += [*ends, (top, top, place[pair[0]], place[pair[1]], group.get(node, 0))]
    tops = [0.0, *steps["height"], steps["height"].iloc[-1]]
    branches = pd.DataFrame(lines, columns=["x", "x2", "y", "y2", "group"])
    cut = pd.DataFrame({"x": [(tops[n - k] + tops[n - k + 1]) / 2]})
    return pd.concat([leaves.assign(y=leaves["place"]), branches, cut], ignore_index=True)


def group_name(group: int) -> str:
    return say_here("name", group=group)


def colours_of(frame: pd.DataFrame) -> Mapping[str, str]:
    """Colours of groups by their names, in order."""
    groups = sorted(frame.loc[frame["layer"].notna(), "group"].unique())
    return dict(zip(map(group_name, groups), GROUP_COLOURS, strict=False))


def groups_plane(points: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the plane of heads in the colours of their groups."""
    return plane(points, name, choices, colours=colours_of(points))


def dendrogram(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the tree, distance to the right; a click on a leaf selects its head."""
    is_leaf, is_branch = frame["layer"].notna(), frame["x2"].notna()
    leaves, branches, cut = frame[is_leaf], frame[is_branch], frame[~is_leaf & ~is_branch]
    labels, colours = leaves.sort_values("place")["label"].tolist(), colours_of(frame)
    leaf = rows_height(len(labels), _LEAF, least=_LEAST_LEAF) // len(labels)
    named = {"values": list(range(len(labels))), "labelExpr": f"{labels}[datum.value]"}
    named |= {"labelOverlap": False} if leaf >= _NAMED else {"labels": False}
    y = alt.Y(
        "y:Q",
        title=title("leaf"),
        scale=alt.Scale(domain=[-0.7, len(labels) - 0.3], nice=False, zero=False, reverse=True),
        axis=alt.Axis(ticks=False, grid=False, domain=False, labelPadding=10, **named),
    )
    x = alt.X("x:Q", title=title("mean_divergence"), axis=alt.Axis(tickCount=7, orient="top"))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("name:N", title=None, scale=scale, legend=None)
    ends = {"x": x, "x2": alt.X2("x2"), "y": y, "y2": alt.Y2("y2")}
    lines = Chart(branches).mark_rule(strokeWidth=1.6).encode(**ends)
    below = lines.transform_filter("datum.group > 0").encode(color=colour)
    above = lines.transform_filter("datum.group === 0").encode(color=alt.ColorValue(IN_NO_GROUP))
    edge = Chart(cut).mark_rule(strokeDash=[6, 4], strokeWidth=1.6, color=MARKED).encode(x=x)
    dots = Chart(leaves).encode(x=x, y=y)
    tooltip = tooltips(dict.fromkeys(("layer", "head", "name")), leaves, ".2f")
    marks = dots.mark_circle(size=5 * leaf, opacity=1, cursor="pointer")
    marks = marks.encode(color=colour, tooltip=tooltip)
    marks = marks.add_params(cell_selection(MARK, "layer", "head"))
    ring = ringed(dots, (choices["layer"], choices["head"]), size=210)
    return layered(below, above, edge, marks, ring, height=leaf * len(labels) + _AROUND)
