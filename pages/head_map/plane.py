"""All heads in a plane, by layer and by what they do (figure 6)."""

import pandas as pd
import streamlit as st

from analysis.tables.heads import head_distance, head_layout, head_pattern
from analysis.tables.heads.head_behaviour import OTHER, Thresholds
from pages.head_map.head_choice import card_of, follow_click, pick_map_head
from pages.head_map.pairs import farthest, nearest, told_nats
from pages.head_map.plane_chart import (
    layer_colour,
    named_colour,
    named_shape,
    plane_chart,
)
from pages.ui.about import about
from pages.ui.choices.clicks import clickable
from pages.ui.head.behaviours import (
    behaviour_name,
    behaviours_of_heads,
    colours,
    has_habits,
    offer_habits,
    pick_thresholds,
    shapes,
)
from pages.ui.head.choice import Head, head_name
from pages.ui.store.chosen import ask, is_causal, require
from pages.ui.weighing import pick_weighing, weighed
from pages.ui.words.say import say

_BY_LAYER, _BY_BEHAVIOUR = "hm_by_layer", "hm_by_behaviour"
_KRUSKAL = {"excellent": 0.025, "good": 0.05, "fair": 0.1}


def show() -> None:
    require(head_distance.TABLE, head_layout.TABLE)
    for chart in (_BY_LAYER, _BY_BEHAVIOUR):
        follow_click(chart)
    st.header(say("head_map.map.title"), anchor=False)
    weighing = pick_weighing("hm")
    points = ask(head_layout.layout, weighing=weighing)
    st.markdown(say("head_map.map.meaning"))
    st.markdown(_finding(points, weighing))
    if is_causal():
        st.markdown(say("head_map.causal"))
    place = st.container()
    head = pick_map_head()
    with place:
        _charts(points, weighing, head)
    card_of(head)
    about(head_layout.TABLE, head_distance.TABLE, *([head_pattern.TABLE] * has_habits()))


def _finding(points: pd.DataFrame, weighing: str) -> str:
    """Which pairs are nearest and farthest, and whether the plane can be trusted."""
    near, far = nearest(weighing), farthest(weighing)
    pairs = say(
        "head_map.map.pairs",
        near_a=head_name(*near.one),
        near_b=head_name(*near.other),
        near=told_nats(near.distance),
        far_a=head_name(*far.one),
        far_b=head_name(*far.other),
        far=told_nats(far.distance),
    )
    stress = points["stress"].iloc[0]
    if pd.isna(stress):
        return say("head_map.map.no_stress")
    verdict = next((name for name, most in _KRUSKAL.items() if stress <= most), "poor")
    told = say(f"head_map.map.stress_{verdict}", stress=f"{stress:.2f}")
    return f"{pairs} {told}"


def _charts(points: pd.DataFrame, weighing: str, head: Head) -> None:
    left, right = st.columns(2)
    if not has_habits():
        with left:
            _by_layer(points, weighing, head)
        with right:
            offer_habits()
        return
    with st.expander(say("head_map.threshold.title")):
        thresholds = pick_thresholds()
    named = points.merge(behaviours_of_heads(thresholds, weighing=weighing), on=["layer", "head"])
    st.markdown(_done(named))
    left, right = st.columns(2)
    with left:
        _by_layer(points, weighing, head)
    with right:
        _by_behaviour(named, weighing, head, thresholds)


def _done(named: pd.DataFrame) -> str:
    """How many heads mostly do each thing."""
    counts = named.loc[named["behaviour"] != OTHER, "behaviour"].value_counts()
    if counts.empty:
        return say("head_map.map.nothing_done", n=len(named))
    each = [
        say("head_map.map.counted", name=behaviour_name(str(behaviour)), n=n)
        for behaviour, n in counts.items()
    ]
    return say(
        "head_map.map.done", some=counts.sum(), n=len(named), each=say("list.comma").join(each)
    )


def _by_layer(points: pd.DataFrame, weighing: str, head: Head) -> None:
    clickable(
        plane_chart(points, colour=layer_colour(), told={}, marked=head),
        _BY_LAYER,
        key=f"hm_by_layer_{weighing}_{head[0]}_{head[1]}",
        question=say("head_map.map.by_layer"),
        caption=weighed(weighing, say("head_map.map.by_layer_caption")),
        frame=points,
    )


def _by_behaviour(named: pd.DataFrame, weighing: str, head: Head, thresholds: Thresholds) -> None:
    present = set(named["name"])
    kept = {name: colour for name, colour in colours().items() if name in present}
    formed = {name: shape for name, shape in shapes().items() if name in present}
    chosen = "_".join(f"{each:g}" for each in vars(thresholds).values())
    clickable(
        plane_chart(
            named,
            colour=named_colour(kept, "name"),
            shape=named_shape(formed, "name"),
            told={"name": say("head_map.behaviour_title")},
            marked=head,
        ),
        _BY_BEHAVIOUR,
        key=f"hm_by_behaviour_{weighing}_{chosen}_{head[0]}_{head[1]}",
        question=say("head_map.map.by_behaviour"),
        caption=weighed(weighing, say("head_map.map.by_behaviour_caption")),
        frame=named,
    )
