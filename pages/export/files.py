"""Export of a chart or a frame as files for a paper; fonts and data are local."""

import re
from html import escape
from typing import Any

import pandas as pd

from pages.charts.chart_theme import WHOLE_LEGEND, columns_of, with_data
from pages.charts.headline import headline
from pages.charts.views import break_titles, encoded_parts
from pages.export.drawing import FONT, NotDrawn, in_fonts, pdf_of, png_of, svg_of
from pages.words.lines import wrapped

WIDTH = 497
"""Width of a figure in points: both columns of a paper."""
_POINT = 0.6  # per pixel on the screen: 12 px are printed as 7.2 pt
_PIXELS = round(WIDTH / _POINT)
_OTHERFONTS = 0.85  # share of the width for a title, whose letters may be wider where it is opened
_INK, _QUIET = "#1a1a1a", "#555555"
_SMALL, _LINE, _LETTER = 10, 14, 5.4  # pixels of the source line: its type, height, and a letter
_LETTER_OF_LEGEND = 8  # pixels
_SIZE = re.compile('width="([0-9.]+)" height="([0-9.]+)" viewBox="[^"]*"')
_LOOK = {
    "background": "white",
    "font": FONT,
    "padding": 8,
    "axis": {"titleFontWeight": "normal"},
    "legend": WHOLE_LEGEND | {"titleFontWeight": "normal"},
    "title": {"fontSize": 13, "anchor": "start"},
    "view": {"stroke": None},
    "axisX": {"gridColor": "#e4e4e4"},
    "axisY": {"gridColor": "#e4e4e4"},
}


def svg(chart: Any, finding: str = "", source: str = "", notes: str = "") -> str:
    """The chart as on a page, on white, with its finding above and its source below; notes are not
    drawn."""
    drawn_as = specification(chart)
    if finding:
        drawn_as["title"] = headline(finding, ink=_INK, pixels=_OTHERFONTS * _PIXELS)
    return _printed(svg_of(drawn_as), source, notes)


def png(chart: Any, *labels: str) -> bytes:
    return png_of(svg(chart, *labels))


def pdf(chart: Any, *labels: str) -> bytes:
    return pdf_of(svg(chart, *labels))


def _printed(drawn: str, source: str, notes: str) -> str:
    """SVG scaled to print, with the source below it, and notes that are not drawn."""
    match = _SIZE.search(drawn)
    if match is None:
        raise NotDrawn("a drawing without a size")
    width, height = float(match[1]), float(match[2])
    lines = wrapped(source, int(width / _LETTER))
    total = height + _LINE * len(lines) + (_SMALL if lines else 0)
    size = f'width="{width * _POINT:.2f}" height="{total * _POINT:.2f}"'
    footer = "".join(
        f'<text x="8" y="{height + _LINE * (place + 0.7):.1f}" font-family="{FONT}" '
        f'font-size="{_SMALL}px" fill="{_QUIET}">{escape(line)}'
        "</text>"
        for place, line in enumerate(lines)
    )
    ground = f'<rect y="{height - 1}" width="{width}" height="{total - height + 1}" fill="white"/>'
    drawn = drawn.replace(match[0], f'{size} viewBox="0 0 {width:g} {total:g}"', 1)
    unseen = f"<metadata>{escape(notes)}</metadata>"
    return drawn.removesuffix("</svg>") + ground + in_fonts(footer) + unseen + "</svg>"


def csv(frame: pd.DataFrame) -> bytes:
    """CSV with a byte order mark, so that spreadsheets read Japanese."""
    return frame.to_csv(index=False).encode("utf-8-sig")


def specification(chart: Any, pixels: int = _PIXELS, letters: int = 11) -> dict[str, Any]:
    """Chart in Vega-Lite with its data inside, a fixed width, its letters, and the look of print.

    A chart of several views keeps its own width, and so does one that states in `usermeta` the
    pixels that its text needs.
    """
    specification = with_data(chart)
    sizes = {"axis": (letters, letters + 1), "legend": (letters, letters)}
    break_titles(specification)
    if not {"hconcat", "vconcat", "concat", "facet", "repeat"} & set(specification):
        least = specification.get("usermeta", {}).get("least_width", 0)
        specification.setdefault("width", max(pixels, least))
        specification.setdefault("autosize", {"type": "fit-x", "contains": "padding"})
        has_names = any(
            (part["encoding"].get("y") or {}).get("type") == "nominal"
            for part, _ in encoded_parts(specification)
        )  # beside the rows, where no legend stands
        room = specification["width"] // (2 if has_names else 1)
        _break_legends(specification, letters=room // _LETTER_OF_LEGEND)
    look = {
        part: _LOOK[part] | {"labelFontSize": label, "titleFontSize": title}
        for part, (label, title) in sizes.items()
    }
    specification["config"] = specification.get("config", {}) | _LOOK | look
    return specification


def _break_legends(part: Any, letters: int) -> None:
    """Fit the number of legend columns to the width of their chart."""
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            _break_legends(inner, letters)
    legend = (part.get("legend") or {}) if isinstance(part, dict) else {}
    names = (part.get("scale") or {}).get("domain") if legend else None
    is_list = "columns" in legend or (
        legend.get("orient") == "top" and "gradientLength" not in legend
    )
    if names and is_list and all(isinstance(name, str) for name in names):
        legend["columns"] = min(legend.get("columns", len(names)), columns_of(names, letters))
