"""Lines of a chart's title, by the widths of its letters.

Letters are those of the font of exported files; Streamlit's own are narrower.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from PIL import ImageFont

from pages.ui.words.lines import width_of, wrapped

_FONT = str(files("fontpkg_fira_sans") / "files" / "FiraSans-SemiBold.ttf")
_UNITS = 1000  # size of the font at which letters are measured
_WIDTHS = (300, 380, 460, 540, 640, 760, 900, 1060, 1240, 1500)  # pixels of charts on a screen


def title_lines(text: str, pixels: float, size: float) -> list[str]:
    """Divide a text of a font size into lines of at most so many pixels."""
    return wrapped(text, pixels * _UNITS / size, _width)


def on_screen(lines_at: Callable[[float], Sequence[str]]) -> dict[str, str]:
    """Lines of a title by the width of the chart's place on the page, in Vega-Lite.

    Args:
        lines_at: returns the lines for a width in pixels.
    """
    narrowest, *wider = [(pixels, json.dumps([*lines_at(pixels)])) for pixels in _WIDTHS]
    written = narrowest[1]
    for pixels, lines in wider:
        written = f"containerSize()[0] >= {pixels} ? {lines} : {written}"
    return {"expr": written}


def _width(text: str) -> float:
    return sum(map(_advance, text))


@cache
def _advance(letter: str) -> float:
    """Width of a letter; a Japanese one is as wide as high."""
    return _UNITS if width_of(letter) > 1 else _font().getlength(letter)


@cache
def _font() -> Any:
    return ImageFont.truetype(_FONT, _UNITS, layout_engine=ImageFont.Layout.BASIC)
