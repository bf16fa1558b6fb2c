"""How far every head is from every other, and which are nearest to one of them."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, head_linkage
from pages.head_map.head_choice import card_of, follow_click, pick_map_head
from pages.head_map.matrix_chart import matrix_chart
from pages.head_map.tree import Tree
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.choices.pick import pick
from pages.ui.figure import table
from pages.ui.head.behaviours import behaviours_of_heads, has_habits
from pages.ui.head.choice import Head, head_name
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.say import say

_MATRIX = "hm_matrix"
_ORDERS = ("layer", "alike")
_NEAREST = 15


def show() -> None:
    require(head_distance.TABLE)
    follow_click(_MATRIX)
    st.header(say("head_map.distances.title"), anchor=False)
    st.markdown(say("head_map.distances.meaning"))
    weighing = pick_weighing("hm")
    order = _pick_order()
    place = st.container()
    head = pick_map_head()
    with place:
        _matrix(order, weighing, head)
    _nearest(weighing, head)
    card_of(head)
    about(head_distance.TABLE, *([head_linkage.TABLE] * _has_tree()))


def _has_tree() -> bool:
    return bool(open_store().rows.get(head_linkage.TABLE.name))


def _pick_order() -> str:
    """How heads are put in a row; alike ones side by side where the file has a tree."""
    if not _has_tree():
        return _ORDERS[0]
    return pick(
        "hm_order",
        say("head_map.distances.order"),
        _ORDERS,
        default=_ORDERS[0],
        format=lambda each: say(f"head_map.distances.order_{each}"),
    )


def _matrix(order: str, weighing: str, head: Head) -> None:
    frame = _placed(ask(head_distance.distances, weighing=weighing), order, weighing)
    clickable(
        matrix_chart(frame, by_layer=order == "layer", marked=head),
        _MATRIX,
        key=f"hm_matrix_{order}_{weighing}_{head[0]}_{head[1]}",
        question=say("head_map.distances.matrix"),
        caption=weighed(weighing, say(f"head_map.distances.caption_{order}")),
        frame=frame,
    )


def _placed(frame: pd.DataFrame, order: str, weighing: str) -> pd.DataFrame:
    """Every pair with the places of its heads: layer, head and y of one, x of the other."""
    n_heads = int(open_store().run["n_heads"])
    numbers = [(frame[f"layer_{side}"] - 1) * n_heads + frame[f"head_{side}"] - 1 for side in "ab"]
    if order == "alike":
        tree = Tree(ask(head_linkage.steps, weighing=weighing))
        place = {head: at for at, head in enumerate(tree.leaves)}
        numbers = [each.map(place) for each in numbers]
    one, other = numbers
    return frame.rename(columns={"layer_a": "layer", "head_a": "head"}).assign(y=one, x=other)


def _nearest(weighing: str, head: Head) -> None:
    place = {"layer": head[0], "head": head[1], "weighing": weighing}
    frame = ask(head_distance.nearest, **place, limit=_NEAREST)
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {
        "layer": number(say("axis.layer")),
        "head": number(say("axis.head")),
        "mean_divergence": number(say("head_map.distance_axis"), format="%.3f"),
    }
    if has_habits():
        frame = frame.merge(
            behaviours_of_heads(weighing=weighing), on=["layer", "head"], how="left"
        )
        columns["name"] = say("head_map.behaviour_title")
    table(
        frame,
        key=f"hm_nearest_{head[0]}_{head[1]}_{weighing}",
        question=say("head_map.distances.nearest", head=head_name(*head)),
        caption=say("head_map.distances.nearest_caption"),
        columns=columns,
        height="content",
    )
