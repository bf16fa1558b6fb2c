"""Small picture of a chart, in the reader's theme."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from pages.charts.chart_theme import theme
from pages.export.drawing import NotDrawn, png_of, svg_of
from pages.export.files import specification

Ground = Literal["light", "dark", "print"]
_WIDEST, _ROOM = 250, 150
"""Size limits on the page, in pixels."""
_DRAWN, _PANELS = 420, 520  # pixels of the width of a chart, or of several, before it is small
_SIZE = re.compile('width="([0-9.]+)" height="([0-9.]+)"')
_GRID = {"gridColor": "#88888833", "domainColor": "#88888888", "tickColor": "#88888888"}


def thumbnail(chart: Mapping[str, Any], ground: Ground) -> bytes:
    """PNG of at most 250 × 150 pixels; empty if the chart cannot be drawn.

    Args:
        ground: `print` for white; the others leave the reader's background.
    """
    try:
        return png_of(_made_small(svg_of(_bare(chart, ground))))
    except NotDrawn:
        return b""


def _bare(chart: Mapping[str, Any], ground: Ground) -> dict[str, Any]:
    """Specification as in print, but on the ground, without its headline."""
    height = chart.get("height")
    high = height if isinstance(height, int | float) else 0
    wide = _PANELS if "concat" in chart else _DRAWN
    drawn = specification(chart, round(max(wide, 1.4 * high)))
    drawn.pop("title", None)
    if ground != "print":
        drawn["config"] |= {"background": "transparent", "axisX": _GRID, "axisY": _GRID}
    if ground == "dark":
        drawn["config"] |= theme()
    return drawn


def _made_small(drawn: str) -> str:
    """SVG at the size that it has on the page."""
    match = _SIZE.search(drawn)
    if match is None:
        raise NotDrawn("a drawing without a size")
    width, height = float(match[1]), float(match[2])
    by = min(_WIDEST / width, _ROOM / height)
    size = f'width="{width * by:.1f}" height="{height * by:.1f}"'
    return drawn.replace(match[0], size, 1)
