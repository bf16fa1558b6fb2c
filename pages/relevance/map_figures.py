"""The figures of one image: the chosen map beside the picture, all heads, all start layers."""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from pages.relevance.choices import head_name
from pages.relevance.image_map import Underlay, image_maps, map_frame
from pages.relevance.map_layout import Panel
from pages.relevance.map_source import MapSource
from pages.relevance.rules import rule_name
from pages.ui.charts.image_ground import ImageGround
from pages.ui.choices.clicks import clickable
from pages.ui.figure import figure
from pages.ui.words.say import say

HEADS, LAYERS = "re heads", "re layers"
"""What the charts are called whose clicks choose a head or a start layer."""
_LARGE = 290
_TWO_ROWS_OF_FOUR = range(6, 9)  # of heads with their mean: larger than five beside each other


@dataclass(frozen=True)
class Shown:
    """Which maps, and how they are drawn."""

    source: MapSource
    rule: str
    layer: int
    head: str
    underlay: Underlay
    own_scale: bool

    @property
    def key(self) -> str:
        """Another one whenever what a click would choose has changed."""
        parts = (self.source.name, self.rule, self.layer, self.head, self.underlay, self.own_scale)
        return "_".join(map(str, parts))

    @property
    def heads(self) -> list[Panel]:
        found = self.source.heads(self.rule, self.layer)
        alone = len(found) == 1
        return [
            Panel(name, head_name(name, alone=alone), relevance)
            for name, relevance in found.items()
        ]

    @property
    def layers(self) -> list[Panel]:
        found = self.source.layers(self.rule, self.head)
        return [
            Panel(layer, say("relevance.layer_name", layer=layer), relevance)
            for layer, relevance in found.items()
        ]

    @property
    def told(self) -> dict[str, str]:
        """What questions call it."""
        return {
            "rule": rule_name(self.rule),
            "layer": str(self.layer),
            "head": next(each.title for each in self.heads if each.name == self.head),
        }


def one_map(shown: Shown) -> None:
    """The chosen map beside the picture."""
    panels = [each for each in shown.heads if each.name == shown.head]
    ground = shown.source.ground
    question = say("relevance.map.question", **shown.told)
    figure(
        image_maps(
            ground,
            panels,
            columns=2,
            underlay=shown.underlay,
            own_scale=shown.own_scale,
            pictured=True,
            side=_LARGE,
        ),
        key=f"re_map_{shown.key}",
        question=question,
        caption=" ".join(_captions(ground)),
        frame=map_frame(ground, panels).drop(columns="name"),
        alt=question,
        width="content",
    )


def _captions(ground: ImageGround) -> Iterator[str]:
    yield say("relevance.map.caption")
    if names := ground.class_tokens:
        yield say("relevance.map.caption_bar", tokens=names)
    if ground.other_special:
        yield say("relevance.map.caption_special")
    if ground.coverage is not None:
        yield say("relevance.map.caption_mask")


def all_heads(shown: Shown) -> None:
    """Every head and the mean, on one scale; a click chooses a head."""
    if len(shown.heads) == 1:
        st.info(say("relevance.heads.none", rule=rule_name(shown.rule)))
        return
    _clickable(
        shown,
        shown.heads,
        HEADS,
        columns=4 if len(shown.heads) in _TWO_ROWS_OF_FOUR else 5,
        marked=shown.head,
        question=say("relevance.heads.question", **shown.told),
        caption=say("relevance.heads.caption"),
    )


def all_layers(shown: Shown) -> None:
    """One head, or the mean, from every start layer; a click chooses the layer."""
    if len(shown.layers) == 1:
        st.info(say("relevance.layers.none", rule=rule_name(shown.rule)))
        return
    _clickable(
        shown,
        shown.layers,
        LAYERS,
        columns=min(max(len(shown.layers), 4), 6),
        marked=str(shown.layer),
        question=say("relevance.layers.question", **shown.told),
        caption=say("relevance.layers.caption"),
    )


def _clickable(
    shown: Shown,
    panels: list[Panel],
    name: str,
    *,
    columns: int,
    marked: str,
    question: str,
    caption: str,
) -> None:
    ground = shown.source.ground
    scales = say("relevance.own_caption" if shown.own_scale else "relevance.shared_caption")
    chart = image_maps(
        ground,
        panels,
        columns=columns,
        underlay=shown.underlay,
        own_scale=shown.own_scale,
        marked=marked,
        pick=True,
    )
    clickable(
        chart,
        name,
        key=f"{name.replace(' ', '_')}_{shown.key}",
        question=question,
        caption=f"{caption} {scales}",
        frame=map_frame(ground, panels).drop(columns="name"),
        width="content",
    )
