"""Relevance maps over an image, side by side on one scale of colours.

All maps are one chart in pixels, so that patches keep their shape, a click names a map, and the
picture is sent once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    layered,
    paper_and_ink,
)
from pages.charts.colours import MARKED, RELEVANCE_LOW_TO_HIGH
from pages.drawn.image_ground import CLASS_TOKENS, ImageGround, Numbers
from pages.kit.kinds import Kind
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.relevance.maps import Panel
from pages.services.inquiry import Inquiry
from pages.words.scope import say_here

_WIDTH, _GAP, _TITLE, _FOOT = 800, 16, 24, 20  # pixels: of a page of 1,280; around maps
_APART = 10  # from a map to the middle of words
_TICKS = (0, 0.05, 0.2, 0.5, 1)
_SILENT: dict[str, Any] = {"tooltip": False, "aria": False}
_FORMATS = {"map": "", "row": "d", "column": "d", "relevance": ".2%", "times_even": ".2f"}


@dataclass(frozen=True, kw_only=True)
class ImageMaps(Kind):
    """Maps over the chosen image, `columns` in a row, or a row for each rule.

    `pictured` is whether the picture itself stands before them; `side` is the width of a map in
    pixels, by default as wide as the page allows.
    """

    panels: Callable[[Choices], list[Panel]]
    columns: int | None = None
    pictured: bool = False
    side: int | None = None

    def rows(self, _: Inquiry, choices: Choices) -> pd.DataFrame:
        """Rows of a figure with these maps."""
        frame = map_frame(choices["maps"].ground, self.panels(choices))
        return frame.astype({"head": str}) if "head" in frame else frame

    def show(
        self, view: View, figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        panels = self.panels(choices)
        first = panels[0].chooses.get("rule")
        columns = self.columns or sum(panel.chooses.get("rule") == first for panel in panels)
        look = {"columns": columns, "pictured": self.pictured, "side": self.side}
        chart = image_maps(choices["maps"].ground, panels, choices, **look)
        options = figure.options(view.key, frame, choices, said)
        view.figure(figure.name, frame, chart, width="content", **said, **options)


def map_frame(ground: ImageGround, panels: Sequence[Panel]) -> pd.DataFrame:
    """The maps as numbers, a row per patch.

    Returns:
        map (its title), row, column (from 1), relevance (share of the whole), times_even (multiple
        of an even share of what lies on patches), panel (its name), and what a click chooses.
    """
    if not panels:
        return pd.DataFrame()
    maps = np.stack([ground.patches(panel.relevance) for panel in panels])
    means = maps.sum(axis=1, keepdims=True) / max(ground.n_patches, 1)
    even = np.divide(maps, means, out=np.full_like(maps, np.nan), where=means > 0)
    names = pd.DataFrame(
        [{"map": panel.title, "panel": panel.name, **panel.chooses} for panel in panels]
    )
    frame = pd.concat(
        [
            names.loc[np.repeat(np.arange(len(panels)), ground.n_patches)].reset_index(drop=True),
            pd.concat([ground.places()] * len(panels), ignore_index=True),
            pd.DataFrame({"relevance": maps.ravel(), "times_even": even.ravel()}),
        ],
        axis=1,
    )
    return frame[["map", "row", "column", "relevance", "times_even", "panel", *panels[0].chooses]]


def image_maps(
    ground: ImageGround,
    panels: Sequence[Panel],
    choices: Choices,
    *,
    columns: int,
    pictured: bool = False,
    side: int | None = None,
) -> Any:
    """Maps side by side, each with its title and its share on special tokens.

    The choice `under` says whether the contours of the picture are drawn over them, and `scale`
    whether each map reaches the brightest colour, or only the highest of all. A map of what is
    chosen has a frame.
    """
    before, n_maps = int(pictured and ground.picture is not None), len(panels)
    columns = min(columns, max(n_maps + before, 4))
    side = side or (_WIDTH + _GAP) // columns - _GAP
    tall = max(round(side * ground.size[1] / ground.size[0]), 1)
    across, step = min(columns, n_maps + before), _TITLE + tall + _FOOT
    cells = np.arange(n_maps + before)
    places = pd.DataFrame(
        {"x": cells % across * float(side + _GAP), "y": cells // across * step + _TITLE}
    )
    corners = places[before:].reset_index(drop=True)
    marked = [
        bool(panel.chooses) and all(choices.get(name) == of for name, of in panel.chooses.items())
        for panel in panels
    ]

    def picture(at: pd.DataFrame, *, outlined: bool) -> list[alt.Chart]:
        address = ground.address(outlined=outlined)
        look: dict[str, Any] = {"align": "left", "baseline": "top", "aspect": False, **_SILENT}
        pictures = Chart(at).mark_image(url=address or "", width=side, height=tall, **look)
        return [pictures] if address else []

    def words(at: pd.DataFrame, texts: Any, below: float, **look: Any) -> alt.Chart:
        look |= {"limit": side + _GAP, "color": paper_and_ink()[1], "tooltip": False}
        marks = Chart(at.assign(text=texts)).mark_text(
            dy=below, align="left", baseline="middle", **look
        )
        return marks.encode(text=alt.Text("text:N"))

    titles = np.array([say_here("picture")] * before + [panel.title for panel in panels])
    is_bold = np.array([False] * before + marked)
    chosen = corners[marked] - 1
    chosen = chosen.assign(x2=chosen["x"] + side + 2, y2=chosen["y"] + tall + 2)
    ring = Chart(chosen).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5, **_SILENT)
    shares = [shares_in_words(ground, panel.relevance) for panel in panels]
    parts = [
        *(picture(places[:1], outlined=False) if before else ()),
        _patches(ground, panels, corners, (side, tall), own_scale=choices.get("scale") == "own"),
        *(picture(corners, outlined=True) if choices.get("under") != "plain" else ()),
        *_outlines(ground, corners, (side, tall)),
        ring.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")),
        words(places[~is_bold], titles[~is_bold], -_APART, fontSize=13),
        words(places[is_bold], titles[is_bold], -_APART, fontSize=13, fontWeight="bold"),
        words(corners, shares, tall + _APART, fontSize=12),
    ]
    width, height = across * (side + _GAP) - _GAP, math.ceil(len(cells) / across) * step
    exact = {"nice": False, "padding": 0}
    down = alt.Scale(domain=[0, height], range=[0, height], **exact)
    axes: dict[str, Any] = {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], **exact)),
        "y": alt.Y("y:Q", axis=None, scale=down),
    }
    return layered(
        *(part.encode(**axes) for part in parts),
        width=width,
        height=height,
        # the page would shrink the maps to make room for the legend
        autosize=alt.AutoSizeParams(type="pad"),
        view=alt.ViewBackground(fill=paper_and_ink()[0], stroke=None),
    )


def _patches(
    ground: ImageGround,
    panels: Sequence[Panel],
    corners: pd.DataFrame,
    size: tuple[int, int],
    *,
    own_scale: bool,
) -> alt.Chart:
    """Draw one rectangle per patch and map."""
    shown, fields = map_frame(ground, panels), list(panels[0].chooses)
    at = corners.loc[np.repeat(np.arange(len(panels)), ground.n_patches)].reset_index(drop=True)
    wide, tall = size[0] / ground.columns, size[1] / ground.rows
    largest = shown.groupby("panel")["relevance"].transform("max")
    shown = shown.assign(
        x=at["x"] + (shown["column"] - 0.5) * wide,
        y=at["y"] + (shown["row"] - 0.5) * tall,
        of_largest=(shown["relevance"] / largest.where(largest > 0)).fillna(0.0),
    )
    column, name = ("of_largest", "own") if own_scale else ("relevance", "shared")
    end = float(shown[column].max()) or 1.0
    colours = alt.Scale(
        type="sqrt",
        domain=(np.linspace(0, 1, len(RELEVANCE_LOW_TO_HIGH)) ** 2 * end).tolist(),
        range=list(RELEVANCE_LOW_TO_HIGH),
        interpolate="rgb",
        clamp=True,
    )
    legend = alt.Legend(
        type="gradient",
        orient="top",
        direction="horizontal",
        offset=6,
        gradientLength=320,
        titleLimit=480,
        format=".2~p",
        values=[end * tick for tick in _TICKS],
    )
    marks = Chart(shown).mark_rect(
        width=wide, height=tall, opacity=1, cursor="pointer" if fields else "default"
    )
    title = say_here(f"legend_{name}")
    marks = marks.encode(
        color=alt.Color(f"{column}:Q", title=title, scale=colours, legend=legend),
        tooltip=column_tooltips(shown, **_FORMATS),
    )
    return marks.add_params(cell_selection("map", *fields)) if fields else marks


def _outlines(ground: ImageGround, corners: pd.DataFrame, size: tuple[int, int]) -> list[alt.Chart]:
    """Outline of the mask, a dark line in a light one, visible on every colour."""
    wide, tall = size[0] / ground.columns, size[1] / ground.rows
    edges = ground.outline().merge(corners, how="cross", suffixes=("", "_at"))
    for x, y in (("x", "y"), ("x2", "y2")):
        edges[x] = edges["x_at"] + edges[x] * wide
        edges[y] = edges["y_at"] + edges[y] * tall
    rules = Chart(edges).encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    looks = (("#101010", 3.2), ("#ffffff", 1.4)) if len(edges) else ()
    return [
        rules.mark_rule(color=colour, strokeWidth=width, strokeCap="square", **_SILENT)
        for colour, width in looks
    ]


def shares_in_words(ground: ImageGround, relevance: Numbers) -> str:
    """Format the share of relevance on [CLS], and on other special tokens if there are any."""
    parts = []
    if ground.class_tokens:
        name = ground.class_tokens.replace("[", "").replace("]", "")
        parts.append((name, ground.share(relevance, CLASS_TOKENS)))
    if others := ground.other_special:
        parts.append((say_here("on_special"), ground.share(relevance, others)))
    digits = 0 if len(parts) > 1 else 1
    return " · ".join(f"{name} {value:.{digits}%}" for name, value in parts)
