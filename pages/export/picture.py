"""Picture of a chart in the reader's theme, for a card, a list or a slide."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from pages.charts.chart_theme import brightened, theme
from pages.charts.colours import PAPER_AND_INK
from pages.export.drawing import NotDrawn, png_of, svg_of
from pages.export.files import specification

Ground = Literal["light", "dark", "print"]
_HEIGHT, _AROUND = 300, 90  # pixels of a chart without a height of its own; axis, title and legend
_LETTERS, _SMALLEST, _LARGEST = 15, 11, 20  # pixels
_SHARPEST = 580  # points of a picture's width
_SIZE = re.compile('width="([0-9.]+)" height="([0-9.]+)"')
_GRID = {"gridColor": "#88888833", "domainColor": "#88888888", "tickColor": "#88888888"}


@st.cache_data(max_entries=256, max_size="128MB", ttl=3600, show_spinner=False)
def picture(chart: Mapping[str, Any], ground: Ground, widest: int, highest: int) -> bytes:
    """PNG of a chart that fills a room of so many pixels; empty if it cannot be drawn.

    Args:
        ground: `print` for white; the others have the background of the page.
    """
    try:
        drawn = svg_of(_bare(chart, ground, widest, highest))
        match = _SIZE.search(drawn)
        if match is None:
            return b""
        width, height = float(match[1]), float(match[2])
        by = min(widest / width, highest / height) * min(1.0, _SHARPEST / widest)
        size = f'width="{width * by:.1f}" height="{height * by:.1f}"'
        return png_of(drawn.replace(match[0], size, 1))
    except NotDrawn:
        return b""


def _bare(chart: Mapping[str, Any], ground: Ground, widest: int, highest: int) -> dict[str, Any]:
    """Specification as in print, but on the ground, without its headline.

    It has the shape of its room, and letters of about `_LETTERS` pixels there.
    """
    height = chart.get("height")
    high = height if isinstance(height, int | float) else _HEIGHT
    pixels = round(widest / highest * (high + _AROUND))
    letters = min(max(round(_LETTERS * pixels / widest), _SMALLEST), _LARGEST)
    drawn = specification(chart, pixels, letters)
    drawn.pop("title", None)
    if ground != "print":
        paper, _ = PAPER_AND_INK[ground]  # what is translucent on no ground is drawn in grey
        drawn["config"] |= {"background": paper, "axisX": _GRID, "axisY": _GRID}
    if ground == "dark":
        drawn = brightened(drawn | {"config": drawn["config"] | theme(letters)})
    return drawn
