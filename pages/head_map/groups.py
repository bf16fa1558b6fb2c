"""Heads in groups that attend alike: the tree, cut into as many groups as the reader wants."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, head_layout, head_linkage
from pages.head_map.apart import DISTANCE, most_unlike, nats
from pages.head_map.plane_chart import plane_chart
from pages.head_map.tree import Tree
from pages.head_map.tree_chart import tree_chart
from pages.ui.charts.colours import GROUP_COLOURS
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads, has_habits
from pages.ui.head.below import head_below
from pages.ui.head.card import head_card
from pages.ui.page import section
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.weighing import pick_weighing
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_AT_FIRST = 6


@section("groups", head_linkage.TABLE, head_distance.TABLE)
def groups(view: View) -> None:
    with view.toolbar():
        weighing = pick_weighing(view.prefix)
        tree = Tree(ask(head_linkage.steps, weighing=weighing))
        most = min(len(GROUP_COLOURS), tree.n_heads)
        k = view.number("k", 2, most, min(_AT_FIRST, most))
    leaves = _leaves(view, tree, k)
    pairs = _pairs(leaves, weighing)
    view.finding(_finding(view, leaves, pairs, k))
    points = ask(head_layout.layout, weighing=weighing).merge(leaves, on=["layer", "head"])
    names = leaves.sort_values("group")["name"].unique()
    colours: Mapping[str, str] = dict(zip(names, GROUP_COLOURS, strict=False))
    with head_below(view, "tree", "plane", default=most_unlike()) as head:
        left, right = st.columns(2)
        drawn = {"state": (weighing, k, *head), "click": True}
        with left:
            chart = tree_chart(tree, leaves, k, colours=colours, marked=head)
            view.figure("tree", leaves, chart, weighing=weighing, **drawn)
        with right:
            if len(points):
                chart = plane_chart(points, colours=colours, marked=head)
                view.figure("plane", points, chart, **drawn)
    head_card(layer=head[0], head=head[1])
    _table(view, leaves, pairs, state=(k, weighing))


def _leaves(view: View, tree: Tree, k: int) -> pd.DataFrame:
    """Every head with its place among the leaves and its group.

    Returns:
        layer, head, place, label, group, name.
    """
    n_heads = int(open_store().run["n_heads"])
    place = {number: at for at, number in enumerate(tree.leaves)}
    rows = [
        (number // n_heads + 1, number % n_heads + 1, place[number], group)
        for number, group in enumerate(tree.groups(k))
    ]
    leaves = pd.DataFrame(rows, columns=["layer", "head", "place", "group"])
    return leaves.assign(
        label=leaves["layer"].astype(str) + "-" + leaves["head"].astype(str),
        name=[view.say("name", group=group) for group in leaves["group"]],
    )


def _pairs(leaves: pd.DataFrame, weighing: str) -> pd.DataFrame:
    """Every two heads, in either order, with their groups: group_a, group_b, mean_divergence."""
    frame = ask(head_distance.distances, weighing=weighing)
    frame = frame.query("layer_a != layer_b or head_a != head_b")
    for side in ("_a", "_b"):
        grouped = leaves[["layer", "head", "group"]].add_suffix(side)
        frame = frame.merge(grouped, on=[f"layer{side}", f"head{side}"])
    return frame


def _finding(view: View, leaves: pd.DataFrame, pairs: pd.DataFrame, k: int) -> str:
    """How large the groups are, and how far apart heads of one and of two of them."""
    sizes = leaves["group"].value_counts()
    alone = int((sizes == 1).sum())
    finding = view.say("finding", k=k, most=int(sizes.iloc[0]), n=len(leaves), alone=alone)
    same = pairs["group_a"] == pairs["group_b"]
    within, between = (pairs.loc[each, DISTANCE].mean() for each in (same, ~same))
    if pd.isna(within):
        return finding
    return f"{finding} {view.say('apart', within=nats(within), between=nats(between))}"


def _table(view: View, leaves: pd.DataFrame, pairs: pd.DataFrame, state: tuple) -> None:
    """What is in each group."""
    same = pairs[pairs["group_a"] == pairs["group_b"]]
    within = same.groupby("group_a")[DISTANCE].mean()
    rows = leaves.sort_values("place")
    columns = ["group", "n", "within", "layers", "heads"]
    if has_habits():
        habits = behaviours_of_heads(weighing=state[-1])[["layer", "head", "behaviour"]]
        rows = rows.merge(habits, on=["layer", "head"], how="left")
        columns.insert(-1, "mostly")
    comma = say("list.comma")
    frame = pd.DataFrame(
        {
            "group": group,
            "n": len(part),
            "within": within.get(group),
            "layers": comma.join(map(str, sorted(part["layer"].unique()))),
            "mostly": _mostly(view, part) if has_habits() else None,
            "heads": comma.join(part["label"]),
        }
        for group, part in rows.groupby("group")
    )
    view.table("table", frame, columns, state=state)


def _mostly(view: View, part: pd.DataFrame) -> str | None:
    """What most of a group's heads do, and how many of them."""
    counts = part["behaviour"].value_counts()
    if counts.empty:
        return None
    name, share = behaviour_name(str(counts.index[0])), percent(counts.iloc[0] / len(part))
    return view.say("mostly", name=name, share=share)
