"""Heads in groups that attend alike: the tree, cut into as many groups as the reader wants."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, head_layout, head_linkage
from pages.head_map.group_table import group_table
from pages.head_map.head_choice import card_of, follow_click, pick_map_head
from pages.head_map.pairs import told_nats
from pages.head_map.plane_chart import named_colour, plane_chart
from pages.head_map.tree import Tree
from pages.head_map.tree_chart import tree_chart
from pages.ui.about import about
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick_number
from pages.ui.head.choice import Head
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.say import say

_TREE, _PLANE = "hm_tree", "hm_group_plane"
_GREY = "#808995"  # what is above the cut
_COLOURS = (
    *(each for each in SERIES_COLOURS if each != _GREY),
    *("#c4503f", "#6f8f1f", "#0f8fa3", "#9a6a3a", "#e08fa8", "#5f78c8", "#b8a02a"),
)
_AT_FIRST = 6


def show() -> None:
    require(head_distance.TABLE, head_linkage.TABLE)
    for chart in (_TREE, _PLANE):
        follow_click(chart)
    st.header(say("head_map.groups.title"), anchor=False)
    st.markdown(say("head_map.groups.meaning"))
    weighing = pick_weighing("hm")
    tree = Tree(ask(head_linkage.steps, weighing=weighing))
    k = _pick_k(tree.n_heads)
    leaves = _leaves(tree, k)
    distances = _between(leaves, weighing)
    st.markdown(_finding(leaves, distances, k))
    place = st.container()
    head = pick_map_head()
    with place:
        _draw(tree, leaves, k, weighing, head)
    card_of(head)
    group_table(leaves, distances, k, weighing)
    about(head_linkage.TABLE, head_distance.TABLE)


def _pick_k(n_heads: int) -> int:
    most = min(len(_COLOURS), n_heads)
    default = min(_AT_FIRST, most)
    return pick_number(
        "hm_k", say("head_map.groups.k"), 2, most, default, help=say("head_map.groups.k_help")
    )


def _leaves(tree: Tree, k: int) -> pd.DataFrame:
    """Every head with its place among the leaves and its group.

    Returns:
        layer, head, place, label, group, name.
    """
    n_heads = int(open_store().run["n_heads"])
    place = {head: number for number, head in enumerate(tree.leaves)}
    rows = [(number // n_heads + 1, number % n_heads + 1) for number in range(tree.n_heads)]
    frame = pd.DataFrame(rows, columns=["layer", "head"])
    group = tree.groups(k)
    return frame.assign(
        place=[place[number] for number in range(tree.n_heads)],
        label=frame["layer"].astype(str) + "-" + frame["head"].astype(str),
        group=group,
        name=[_name(each) for each in group],
    )


def _name(group: int) -> str:
    return say("head_map.groups.name", group=group)


def _between(leaves: pd.DataFrame, weighing: str) -> pd.DataFrame:
    """Every two heads, in either order, with their groups: group_a, group_b, mean_divergence."""
    group = leaves.set_index(["layer", "head"])["group"]
    frame = ask(head_distance.distances, weighing=weighing)
    for side in "ab":
        places = pd.MultiIndex.from_frame(frame[[f"layer_{side}", f"head_{side}"]])
        frame[f"group_{side}"] = group.loc[places].to_numpy()
    same = (frame["layer_a"] == frame["layer_b"]) & (frame["head_a"] == frame["head_b"])
    return frame[~same]


def _finding(leaves: pd.DataFrame, distances: pd.DataFrame, k: int) -> str:
    sizes = leaves["group"].value_counts()
    same = distances["group_a"] == distances["group_b"]
    within, between = (distances.loc[each, "mean_divergence"].mean() for each in (same, ~same))
    sentences = [
        say(
            "head_map.groups.finding",
            k=k,
            most=int(sizes.iloc[0]),
            n=len(leaves),
            alone=int((sizes == 1).sum()),
        )
    ]
    if pd.notna(within):
        told = {"within": told_nats(within), "between": told_nats(between)}
        sentences.append(say("head_map.groups.apart", **told))
    return " ".join(sentences)


def _draw(tree: Tree, leaves: pd.DataFrame, k: int, weighing: str, head: Head) -> None:
    groups = leaves.drop_duplicates("group").sort_values("group")
    colours: dict[str, str] = dict(zip(groups["name"], _COLOURS, strict=False))
    branches = tree.branches(k)
    branches["name"] = branches["group"].map({each: _name(each) for each in leaves["group"]})
    left, right = st.columns(2)
    with left:
        clickable(
            tree_chart(branches, leaves, colours=colours, cut=tree.cut(k), marked=head),
            _TREE,
            key=f"hm_tree_{weighing}_{k}_{head[0]}_{head[1]}",
            question=say("head_map.groups.tree"),
            caption=weighed(weighing, say("head_map.groups.tree_caption")),
            frame=leaves,
        )
    with right:
        _plane(leaves, colours, weighing, head)


def _plane(leaves: pd.DataFrame, colours: dict[str, str], weighing: str, head: Head) -> None:
    """The same groups in the plane of the first section, where the file has it."""
    points = ask(head_layout.layout, weighing=weighing).merge(leaves, on=["layer", "head"])
    if points.empty:
        return
    told = {"name": say("head_map.groups.group")}
    clickable(
        plane_chart(points, colour=named_colour(colours, "name"), told=told, marked=head),
        _PLANE,
        key=f"hm_group_plane_{weighing}_{len(colours)}_{head[0]}_{head[1]}",
        question=say("head_map.groups.plane"),
        caption=say("head_map.groups.plane_caption"),
        frame=points,
    )
