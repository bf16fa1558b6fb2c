"""Relevance maps over an image, side by side on one scale of colours.

All maps are one chart in pixels, so that patches keep their shape, a click names a map, and the
picture is sent once.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.kit.kinds import Kind
from pages.kit.section import Choices, Figure
from pages.relevance.maps import Panel
from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    layered,
    paper_and_ink,
)
from pages.ui.charts.colours import MARKED, RELEVANCE_LOW_TO_HIGH
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround, Numbers
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.scope import say_here

_MAP = "map"  # name of the selection of a clicked map
_WIDTH = 800  # of a page of 1,280 pixels without its sidebar
_GAP, _TITLE, _FOOT = 16, 24, 20
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
        panels = self.panels(choices)
        return map_frame(choices["maps"].ground, panels) if panels else pd.DataFrame()

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
    """The maps as numbers, which is what is offered for export.

    Returns:
        map (its title), row, column (from 1), relevance (share of the whole), times_even (the
        multiple of what the patch would have if all that lies on patches were spread evenly),
        panel (its name), and what the map is of: rule, layer or head.
    """
    maps = []
    for panel in panels:
        relevance = ground.patches(panel.relevance)
        even = relevance / relevance.mean() if relevance.sum() > 0 else np.nan
        numbers = {"relevance": relevance, "times_even": even, "panel": panel.name}
        of = {name: str(value) for name, value in panel.chooses.items()}
        maps.append(pd.DataFrame({"map": panel.title, **ground.places(), **numbers, **of}))
    return pd.concat(maps, ignore_index=True)


@dataclass(frozen=True)
class MapLayout:
    """Grid of maps of equal width, row by row, in pixels from its upper left corner.

    Attributes:
        side: width of a map.
        columns: number of maps in a row.
        before: number of free cells before the first map.
    """

    ground: ImageGround
    panels: Sequence[Panel]
    side: int
    columns: int
    before: int = 0

    @property
    def tall(self) -> int:
        """Height of a map, in the proportions of the picture."""
        width, height = self.ground.size
        return max(round(self.side * height / width), 1)

    @property
    def patch(self) -> tuple[float, float]:
        return self.side / self.ground.columns, self.tall / self.ground.rows

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the chart."""
        rows = math.ceil((len(self.panels) + self.before) / self.columns)
        return self.columns * (self.side + _GAP) - _GAP, rows * (_TITLE + self.tall + _FOOT)

    def corners(self, cells: Sequence[int] | None = None) -> pd.DataFrame:
        """Upper left corner of every map, or of cells by their numbers from 0: x, y."""
        order = np.arange(len(self.panels)) + self.before if cells is None else np.array(cells)
        down = order // self.columns * (_TITLE + self.tall + _FOOT) + _TITLE
        return pd.DataFrame({"x": order % self.columns * float(self.side + _GAP), "y": down})

    def cells(self) -> pd.DataFrame:
        """Rows of patches, map by map, with the centre of each as x and y."""
        frame = map_frame(self.ground, self.panels)
        corners = self.corners().loc[np.repeat(np.arange(len(self.panels)), self.ground.n_patches)]
        wide, tall = self.patch
        for name in {name for panel in self.panels for name in panel.chooses}:  # not as text
            of = [panel.chooses.get(name) for panel in self.panels]
            frame[name] = np.repeat(np.array(of, dtype=object), self.ground.n_patches)
        return frame.assign(
            x=corners["x"].to_numpy() + (frame["column"] - 0.5) * wide,
            y=corners["y"].to_numpy() + (frame["row"] - 0.5) * tall,
        )

    def outline(self) -> pd.DataFrame:
        """Outline of the mask on every map: x, y, x2, y2."""
        wide, tall = self.patch
        edges = self.ground.outline().merge(self.corners(), how="cross", suffixes=("", "_corner"))
        across = {end: edges["x_corner"] + edges[end] * wide for end in ("x", "x2")}
        down = {end: edges["y_corner"] + edges[end] * tall for end in ("y", "y2")}
        return pd.DataFrame(across | down)


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
    before = int(pictured and ground.picture is not None)
    columns = min(columns, max(len(panels) + before, 4))
    width = side or (_WIDTH + _GAP) // columns - _GAP
    layout = MapLayout(ground, panels, width, min(columns, len(panels) + before), before)
    is_marked = [
        all(choices.get(name) == value for name, value in panel.chooses.items())
        for panel in panels
        if panel.chooses
    ]
    marked = is_marked.index(True) if True in is_marked else None
    first = layout.corners([0])
    layers = [
        *(_pictures(layout, first) if before else ()),
        *([_text(layout, first.assign(text=say_here("picture")), -_APART)] if before else ()),
        _cells(layout, own_scale=choices.get("scale") == "own"),
        *(_pictures(layout, outlined=True) if choices.get("under") != "plain" else ()),
        *_outlines(layout),
        *_ring(layout, marked),
        *_words(layout, marked),
    ]
    across, down = layout.size
    exact = {"nice": False, "padding": 0}
    axes: dict[str, Any] = {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, across], **exact)),
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, down], range=[0, down], **exact)),
    }
    return layered(
        *(layer.encode(**axes) for layer in layers),
        width=across,
        height=down,
        # the page would shrink the maps to make room for the legend
        autosize=alt.AutoSizeParams(type="pad"),
        view=alt.ViewBackground(fill=paper_and_ink()[0], stroke=None),
    )


def _cells(layout: MapLayout, *, own_scale: bool) -> alt.Chart:
    """Draw one rectangle per patch and map."""
    shown = layout.cells()
    largest = shown.groupby("panel")["relevance"].transform("max")
    shown["of_largest"] = (shown["relevance"] / largest.where(largest > 0)).fillna(0.0)
    column, scale = ("of_largest", "own") if own_scale else ("relevance", "shared")
    end = 1.0 if own_scale else float(shown["relevance"].max()) or 1.0
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
    wide, tall = layout.patch
    fields = list(layout.panels[0].chooses)
    marks = (
        Chart(shown)
        .mark_rect(width=wide, height=tall, opacity=1, cursor="pointer" if fields else "default")
        .encode(
            color=alt.Color(
                f"{column}:Q", title=say_here(f"legend_{scale}"), scale=colours, legend=legend
            ),
            tooltip=column_tooltips(shown, **_FORMATS),
        )
    )
    return marks.add_params(cell_selection(_MAP, *fields)) if fields else marks


def _pictures(
    layout: MapLayout, corners: pd.DataFrame | None = None, *, outlined: bool = False
) -> Iterator[alt.Chart]:
    """Yield the picture at some corners, or its contours on every map, if it is stored."""
    if address := layout.ground.address(outlined=outlined):
        size: dict[str, Any] = {"width": layout.side, "height": layout.tall, "aspect": False}
        place: dict[str, Any] = {"align": "left", "baseline": "top"}
        pictures = Chart(layout.corners() if corners is None else corners)
        yield pictures.mark_image(url=address, **size, **place, **_SILENT)


def _outlines(layout: MapLayout) -> Iterator[alt.Chart]:
    """Yield the outline of the mask, a dark line in a light one, visible on every colour."""
    edges = layout.outline()
    if len(edges):
        rules = Chart(edges).encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
        for colour, width in (("#101010", 3.2), ("#ffffff", 1.4)):
            yield rules.mark_rule(color=colour, strokeWidth=width, strokeCap="square", **_SILENT)


def _ring(layout: MapLayout, marked: int | None) -> Iterator[alt.Chart]:
    """Yield a frame around the marked map."""
    if marked is not None:
        corner = layout.corners().iloc[[marked]] - 1
        ends = corner.assign(x2=corner["x"] + layout.side + 2, y2=corner["y"] + layout.tall + 2)
        frame = Chart(ends).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5, **_SILENT)
        yield frame.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))


def _words(layout: MapLayout, marked: int | None) -> Iterator[alt.Chart]:
    """Yield titles above the maps, and shares on special tokens below."""
    corners, panels = layout.corners(), layout.panels
    titles = corners.assign(text=[panel.title for panel in panels])
    for shown, weight in ((titles.index != marked, "normal"), (titles.index == marked, "bold")):
        if shown.any():
            yield _text(layout, titles[shown], -_APART, fontWeight=weight)
    if layout.ground.special:
        shares = [shares_in_words(layout.ground, panel.relevance) for panel in panels]
        yield _text(layout, corners.assign(text=shares), layout.tall + _APART, fontSize=12)


def _text(layout: MapLayout, corners: pd.DataFrame, below: float, **look: Any) -> alt.Chart:
    """Draw the column `text`, `below` pixels under the upper edges of maps."""
    look = {"fontSize": 13, "align": "left", "baseline": "middle", "tooltip": False} | look
    marks = Chart(corners).mark_text(
        dy=below, color=paper_and_ink()[1], limit=layout.side + _GAP, **look
    )
    return marks.encode(text=alt.Text("text:N"))


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
