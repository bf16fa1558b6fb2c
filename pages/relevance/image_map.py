"""Maps of relevance over an image: many of them side by side on one scale of colours.

All of them are one chart in pixels, so that patches keep their shape, a click names a map, and the
picture is sent once.
"""

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from pages.relevance.map_layout import GAP, MapLayout, Panel
from pages.relevance.map_marks import first_picture, outlines, pictures, ring, words
from pages.ui.charts.image_ground import ImageGround
from pages.ui.charts.look import cell_selection, paper_and_ink
from pages.ui.words.say import say

PANEL = "panel"
"""Name of the selection, and its field: `event["selection"][PANEL][0][PANEL]` is a panel's name."""
WIDTH = 800
"""In pixels: of a page of 1,280 beside its sidebar."""
COLOURS = ("#2c1e4f", "#3b3f8c", "#2a6f97", "#1f9e89", "#6cce59", "#fde725")
Underlay = Literal["over", "plain"]
_SEEN_THROUGH = (0.5, 0.88)  # least and most opaque: what counts for little hides little
_TICKS = (0, 0.05, 0.2, 0.5, 1)


def image_maps(
    ground: ImageGround,
    panels: Sequence[Panel],
    *,
    columns: int,
    underlay: Underlay = "over",
    own_scale: bool = False,
    top: float | None = None,
    marked: str | None = None,
    pick: bool = False,
    outlined: bool = True,
    pictured: bool = False,
    side: int | None = None,
) -> Any:
    """The maps side by side, each with its title and its share on special tokens.

    Args:
        columns: how many maps stand beside each other.
        underlay: `over`: the picture is seen through the map; `plain`: it is not.
        own_scale: whether every map reaches the brightest colour, else only the highest of all.
        top: relevance of a patch at the brightest colour; None: the highest of the panels.
        marked: name of the panel with a frame around it.
        pick: whether a click on a map chooses it, as `PANEL` tells.
        outlined: whether the mask's outline is drawn where there is a mask.
        pictured: whether the picture itself stands before the first map.
        side: width of a map in pixels; None: as wide as the page allows.
    """
    width = side or (WIDTH + GAP) // columns - GAP
    before = int(pictured and ground.picture is not None)
    across = min(columns, len(panels) + before)
    layout = MapLayout(ground, width, across, len(panels), before)
    frame = map_frame(ground, panels)
    paper, ink = paper_and_ink()
    layers = [
        *(first_picture(layout, ink=ink) if before else ()),
        *(pictures(layout) if underlay == "over" else ()),
        _cells(frame, layout, underlay=underlay, own_scale=own_scale, top=top, pick=pick),
        *(outlines(layout) if outlined else ()),
        *ring(panels, layout, marked),
        *words(panels, layout, marked=marked, ink=ink),
    ]
    return alt.layer(*(each.encode(**layout.axes) for each in layers)).properties(
        width=layout.width,
        height=layout.height,
        # the page would shrink the maps to make room for the legend
        autosize=alt.AutoSizeParams(type="pad"),
        view=alt.ViewBackground(fill=paper, stroke=None),
    )


def map_frame(ground: ImageGround, panels: Sequence[Panel]) -> pd.DataFrame:
    """The maps as numbers, which is what is offered for export.

    Returns:
        panel (its title), row, column (from 1), relevance (share of the whole), times_even (the
        multiple of what the patch would have if all that lies on patches were spread evenly).
    """
    return pd.concat([_numbers(ground, each) for each in panels], ignore_index=True)


def highest(ground: ImageGround, panels: Sequence[Panel]) -> float:
    """The largest relevance of a patch in any of the maps."""
    return max(float(ground.patches(each.relevance).max()) for each in panels)


def _numbers(ground: ImageGround, panel: Panel) -> pd.DataFrame:
    relevance = ground.patches(panel.relevance)
    mean = relevance.mean()
    even = relevance / mean if mean > 0 else np.full(len(relevance), np.nan)
    return ground.places().assign(
        panel=panel.title, relevance=relevance, times_even=even, name=panel.name
    )[["panel", "row", "column", "relevance", "times_even", "name"]]


def _cells(
    frame: pd.DataFrame,
    layout: MapLayout,
    *,
    underlay: Underlay,
    own_scale: bool,
    top: float | None,
    pick: bool,
) -> alt.Chart:
    """One rectangle per patch and map."""
    largest = frame.groupby("name")["relevance"].transform("max")
    shown = layout.cells(frame).assign(
        of_largest=np.where(largest > 0, frame["relevance"] / largest.where(largest > 0), 0.0)
    )
    field, title = ("of_largest", "own") if own_scale else ("relevance", "shared")
    end = 1.0 if own_scale else (top or float(frame["relevance"].max()) or 1.0)
    shown["opacity"] = _opacity(shown[field], end) if underlay == "over" else 1.0
    marks = (
        alt.Chart(shown.rename(columns={"name": PANEL, "panel": "title"}))
        .mark_rect(
            width=layout.patch[0],
            height=layout.patch[1],
            cursor="pointer" if pick else "default",
        )
        .encode(
            color=colour(field, say(f"relevance.scale_{title}"), end),
            opacity=alt.Opacity("opacity:Q", scale=None),
            tooltip=_told(),
        )
    )
    return marks.add_params(cell_selection(PANEL, PANEL)) if pick else marks


def colour(field: str, title: str, end: float) -> alt.Color:
    """Colours by the square root of a value from 0 to `end`."""
    places = np.linspace(0, 1, len(COLOURS)) ** 2 * end
    scale = alt.Scale(
        type="sqrt", domain=places.tolist(), range=list(COLOURS), interpolate="rgb", clamp=True
    )
    legend = alt.Legend(
        type="gradient",
        orient="top",
        direction="horizontal",
        offset=6,
        gradientLength=320,
        titleLimit=480,
        format=".2~p",
        values=[end * each for each in _TICKS],
    )
    return alt.Color(f"{field}:Q", title=title, scale=scale, legend=legend)


def _opacity(value: pd.Series, end: float) -> np.ndarray:
    least, most = _SEEN_THROUGH
    return least + (most - least) * np.sqrt(np.clip(value.to_numpy() / end, 0, 1))


def _told() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("title:N", title=say("relevance.map_name")),
        alt.Tooltip("row:Q", title=say("relevance.row"), format="d"),
        alt.Tooltip("column:Q", title=say("relevance.column"), format="d"),
        alt.Tooltip("relevance:Q", title=say("relevance.share"), format=".2%"),
        alt.Tooltip("times_even:Q", title=say("relevance.times_even"), format=".2f"),
    ]
