"""The relevance of one image: over all of it, of all heads, and from every start layer."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from analysis.relevance_rules import MEAN_WEIGHTS, RULES
from analysis.tables import image
from analysis.tables.relevance import relevance_map, sequence_relevance
from pages.relevance.choices import (
    HEAD,
    LAYER,
    MEAN,
    follow_click,
    pick_head,
    pick_image,
    pick_layer,
    pick_own_scale,
    pick_rule,
    pick_underlay,
)
from pages.relevance.image_facts import facts, finding
from pages.relevance.image_map import Underlay
from pages.relevance.map_figures import HEADS, LAYERS, Shown, all_heads, all_layers, one_map
from pages.relevance.map_source import MapSource, StoredMaps
from pages.relevance.own_image import own_image
from pages.relevance.rules import rule_meaning, rule_name
from pages.ui.about import about
from pages.ui.charts.image_ground import ground_of
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import ask, open_store, require
from pages.ui.words.say import say


def show() -> None:
    require(relevance_map.TABLE)
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    left.header(say("relevance.map.title"), anchor=False)
    with right:
        whose = pick(
            "re_whose",
            say("relevance.whose"),
            ("file", "own"),
            default="file",
            format=lambda each: say(f"relevance.whose_{each}"),
        )
    follow_click(HEADS, HEAD)
    follow_click(LAYERS, LAYER)
    _own() if whose == "own" else _stored()
    about(relevance_map.TABLE, sequence_relevance.TABLE, image.TABLE)


def _own() -> None:
    """An image that the reader brings."""
    source = own_image()
    if source is not None:
        _maps(source, st.columns(3))


def _stored() -> None:
    """An image of the file."""
    found = ask(image.images)
    kept = found[found["kept"]]
    if kept.empty:
        st.info(say("relevance.none_kept"))
        return
    first, *others = st.columns([1.4, 1, 1, 1])
    with first:
        seq = pick_image(dict(zip(kept["seq"], kept["name"], strict=True)))
    ground = ground_of(seq)
    if ground is not None:
        _maps(StoredMaps(seq, ground), others)
    if len(kept) < len(found):
        st.caption(say("relevance.some_kept", kept=f"{len(kept):,}", n=f"{len(found):,}"))


def _maps(source: MapSource, places: Sequence[Any]) -> None:
    """Rule, start layer and head of the first map, picked in places; all heads; all layers."""
    rule, layer, head = _picked(source, places)
    relevance = source.heads(rule, layer)[head]
    summary = source.summary(rule, layer, head)
    finding(source, relevance, summary)
    first = st.container()
    underlay, own_scale = _drawn()
    shown = Shown(source, rule, layer, head, underlay, own_scale)
    with first:
        left, right = st.columns([3, 1])
        with left:
            one_map(shown)
        with right:
            facts(source, relevance, summary)
    all_heads(shown)
    all_layers(shown)


def _picked(source: MapSource, places: Sequence[Any]) -> tuple[str, int, str]:
    with places[0]:
        rule = pick_rule(source.rules())
    with places[1]:
        layer = pick_layer([int(each) for each in source.layers(rule, MEAN)])
    with places[2]:
        head = pick_head(list(source.heads(rule, layer)))
    st.caption(f"**{rule_name(rule)}:** {rule_meaning(rule)} {_start(rule, layer)}")
    return rule, layer, head


def _start(rule: str, layer: int) -> str:
    """Where relevance is put; nothing for methods that carry none back."""
    if rule not in (*RULES, *MEAN_WEIGHTS):
        return ""
    return say(f"relevance.start_{open_store().facts['relevance_start']}", layer=layer)


def _drawn() -> tuple[Underlay, bool]:
    """How all maps of the section are drawn."""
    with st.container(horizontal=True):
        return pick_underlay(), pick_own_scale()
