"""Relevance maps over an image, side by side on one scale of colours.

All maps are one chart in pixels, so that patches keep their shape, a click names a map, and the
picture is sent once.
"""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from pages.relevance.maps.layout import GAP, MapLayout, Panel
from pages.relevance.maps.marks import first_picture, outlines, pictures, ring, words
from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    layered,
    paper_and_ink,
)
from pages.ui.charts.colours import RELEVANCE_LOW_TO_HIGH
from pages.ui.charts.image_ground import ImageGround
from pages.ui.words.scope import say_here

PANEL = "panel"
"""Name of the selection, and its field: `event["selection"][PANEL][0][PANEL]` is a panel's name."""
WIDTH = 800
"""Width of a page of 1,280 pixels without its sidebar."""
Outline = Literal["outlined", "plain"]
OUTLINES: tuple[Outline, ...] = ("outlined", "plain")
_TICKS = (0, 0.05, 0.2, 0.5, 1)


def image_maps(
    ground: ImageGround,
    panels: Sequence[Panel],
    *,
    columns: int,
    outline: Outline = "outlined",
    own_scale: bool = False,
    marked: str | None = None,
    pictured: bool = False,
    side: int | None = None,
) -> Any:
    """The maps side by side, each with its title and its share on special tokens.

    Args:
        outline: `outlined`: the contours of the picture are drawn over the map; `plain`: not.
        own_scale: whether every map reaches the brightest colour, else only the highest of all.
        marked: name of the panel that is chosen, with a frame around it; a click chooses another,
            as `PANEL` tells. None makes nothing of a click.
        pictured: whether the picture itself stands before the first map.
        side: width of a map in pixels; None: as wide as the page allows.
    """
    width = side or (WIDTH + GAP) // columns - GAP
    before = int(pictured and ground.picture is not None)
    across = min(columns, len(panels) + before)
    layout = MapLayout(ground, panels, width, across, before)
    cells = _cells(layout, own_scale=own_scale, pick=marked is not None)
    is_outlined = outline == "outlined"
    paper, _ = paper_and_ink()
    layers = [
        *(first_picture(layout) if before else ()),
        cells,
        *(pictures(layout, layout.corners(), outlined=True) if is_outlined else ()),
        *outlines(layout),
        *ring(layout, marked),
        *words(layout, marked),
    ]
    return layered(
        *(layer.encode(**layout.axes) for layer in layers),
        width=layout.width,
        height=layout.height,
        # the page would shrink the maps to make room for the legend
        autosize=alt.AutoSizeParams(type="pad"),
        view=alt.ViewBackground(fill=paper, stroke=None),
    )


def map_frame(ground: ImageGround, panels: Sequence[Panel]) -> pd.DataFrame:
    """The maps as numbers, which is what is offered for export.

    Returns:
        map (its title), row, column (from 1), relevance (share of the whole), times_even (the
        multiple of what the patch would have if all that lies on patches were spread evenly),
        panel (its name).
    """
    maps = []
    for panel in panels:
        relevance = ground.patches(panel.relevance)
        even = relevance / relevance.mean() if relevance.sum() > 0 else np.nan
        numbers = {"relevance": relevance, "times_even": even, "panel": panel.name}
        maps.append(pd.DataFrame({"map": panel.title, **ground.places(), **numbers}))
    return pd.concat(maps, ignore_index=True)


def _cells(layout: MapLayout, *, own_scale: bool, pick: bool) -> alt.Chart:
    """Draw one rectangle per patch and map."""
    frame = map_frame(layout.ground, layout.panels)
    largest = frame.groupby(PANEL)["relevance"].transform("max")
    of_largest = (frame["relevance"] / largest.where(largest > 0)).fillna(0.0)
    shown = layout.cells(frame).assign(of_largest=of_largest)
    field, scale = ("of_largest", "own") if own_scale else ("relevance", "shared")
    end = 1.0 if own_scale else float(frame["relevance"].max()) or 1.0
    formats = {"map": "", "row": "d", "column": "d", "relevance": ".2%", "times_even": ".2f"}
    wide, tall = layout.patch
    marks = (
        Chart(shown)
        .mark_rect(width=wide, height=tall, opacity=1, cursor="pointer" if pick else "default")
        .encode(
            color=_colour(field, say_here(f"legend_{scale}"), end),
            tooltip=column_tooltips(shown, **formats),
        )
    )
    return marks.add_params(cell_selection(PANEL, PANEL)) if pick else marks


def _colour(field: str, title: str, end: float) -> alt.Color:
    """Colour scale by the square root of a value from 0 to `end`."""
    places = np.linspace(0, 1, len(RELEVANCE_LOW_TO_HIGH)) ** 2 * end
    scale = alt.Scale(
        type="sqrt",
        domain=places.tolist(),
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
    return alt.Color(f"{field}:Q", title=title, scale=scale, legend=legend)
