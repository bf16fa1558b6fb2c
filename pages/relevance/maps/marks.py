"""Marks around maps: the picture, its contours, the mask's outline, titles, bars, a frame."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pages.relevance.maps.layout import BAR, BAR_GAP, GAP, MapLayout
from pages.ui.charts.chart_theme import Chart, paper_and_ink, tooltips
from pages.ui.charts.colours import MARKED, TOKEN_TYPE_COLOURS
from pages.ui.charts.image_ground import CLASS_TOKENS, ImageGround, Numbers
from pages.ui.words.columns import title
from pages.ui.words.scope import say_here

_APART = 10  # from a map, or the bar below it, to the middle of words
_SILENT: dict[str, Any] = {"tooltip": False, "aria": False}
_BARS = {kind: TOKEN_TYPE_COLOURS[kind] for kind in ("cls", "register", "other")}


def first_picture(layout: MapLayout) -> Iterator[alt.Chart]:
    """Yield the picture in the cell before all maps."""
    corner = layout.corners_of(np.arange(1))
    yield from pictures(layout, corner)
    yield _title(layout, corner.assign(text=say_here("picture")))


def pictures(
    layout: MapLayout, corners: pd.DataFrame, *, outlined: bool = False
) -> Iterator[alt.Chart]:
    """Yield the picture under every map, if it is stored, or its contours on top."""
    if address := layout.ground.address(outlined=outlined):
        size: dict[str, Any] = {"width": layout.side, "height": layout.tall, "aspect": False}
        place: dict[str, Any] = {"align": "left", "baseline": "top"}
        yield Chart(corners).mark_image(url=address, **size, **place, **_SILENT)


def outlines(layout: MapLayout) -> Iterator[alt.Chart]:
    """Yield the outline of the mask, a dark line in a light one, visible on every colour."""
    edges = layout.outline()
    if len(edges):
        rules = Chart(edges).encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
        for colour, width in (("#101010", 3.2), ("#ffffff", 1.4)):
            yield rules.mark_rule(color=colour, strokeWidth=width, strokeCap="square", **_SILENT)


def ring(layout: MapLayout, marked: str | None) -> Iterator[alt.Chart]:
    """Yield a frame around the marked map."""
    names = [panel.name for panel in layout.panels]
    if marked in names:
        corner = layout.corners().iloc[[names.index(marked)]] - 1
        ends = corner.assign(x2=corner["x"] + layout.side + 2, y2=corner["y"] + layout.tall + 2)
        frame = Chart(ends).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5, **_SILENT)
        yield frame.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))


def words(layout: MapLayout, marked: str | None) -> Iterator[alt.Chart]:
    """Yield titles above the maps, and bars of the shares on special tokens below, with numbers."""
    corners, panels = layout.corners(), layout.panels
    titles = corners.assign(text=[panel.title for panel in panels])
    weights = np.array(["bold" if panel.name == marked else "normal" for panel in panels])
    for weight in ("normal", "bold"):
        if len(shown := titles[weights == weight]):
            yield _title(layout, shown, weight)
    if layout.ground.special:
        yield _bars(layout)
        shares = [shares_in_words(layout.ground, panel.relevance) for panel in panels]
        below = layout.tall + BAR_GAP + BAR + _APART
        yield _text(layout, corners.assign(text=shares), below, fontSize=11.5)


def _title(layout: MapLayout, corners: pd.DataFrame, weight: str = "normal") -> alt.Chart:
    return _text(layout, corners, -_APART, fontSize=13, fontWeight=weight)


def _text(layout: MapLayout, corners: pd.DataFrame, below: float, **look: Any) -> alt.Chart:
    """Draw the column `text`, `below` pixels under the upper edges of maps."""
    _, ink = paper_and_ink()
    look |= {"align": "left", "baseline": "middle", "limit": layout.side + GAP, "tooltip": False}
    return Chart(corners).mark_text(dy=below, color=ink, **look).encode(text=alt.Text("text:N"))


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


def _bars(layout: MapLayout) -> alt.Chart:
    """Draw total relevance as a bar divided into [CLS], other special tokens and patches."""
    ground, rows = layout.ground, []
    names = {"cls": ground.class_tokens}
    names |= {kind: say_here(f"bar_{kind}") for kind in ("register", "other")}
    for panel, corner in zip(layout.panels, layout.corners().to_dict("records"), strict=True):
        cls = ground.share(panel.relevance, CLASS_TOKENS)
        others = ground.share(panel.relevance, ground.other_special)
        start = 0.0
        for kind, share in zip(_BARS, (cls, others, max(1 - cls - others, 0.0)), strict=True):
            end = min(start + share, 1.0)
            x, x2 = (corner["x"] + edge * layout.side for edge in (start, end))
            row = {"x": x, "x2": x2, "y": corner["y"] + layout.tall + BAR_GAP + BAR / 2}
            rows.append({**row, "share": share, "colour": _BARS[kind], "bar": names[kind]})
            start = end
    frame = pd.DataFrame(rows)
    tooltip = tooltips({"bar": title("bar"), "share": title("relevance")}, frame, ".1%")
    bars = Chart(frame).mark_bar(size=BAR, aria=False)
    return bars.encode(x2=alt.X2("x2:Q"), color=alt.Color("colour:N", scale=None), tooltip=tooltip)
