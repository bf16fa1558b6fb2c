"""Lines of a chart's title, by the widths of its letters.

Letters are those of the font of exported files; Streamlit's own are narrower.
"""

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from PIL import ImageFont

from pages.words.lines import width_of, wrapped

_FONT = str(files("fontpkg_fira_sans") / "files" / "FiraSans-SemiBold.ttf")
_UNITS = 1000  # size of the font at which letters are measured
PLACE = "(containerSize()[0] + 0 * width)"
"""Width of a chart's place on the page, as a Vega expression; `width` changes when it does."""


def title_lines(text: str, pixels: float, size: float) -> list[str]:
    """Divide a text of a font size into lines of at most so many pixels."""
    return wrapped(text, pixels * _UNITS / size, _width)


def text_width(text: str, size: float) -> float:
    """Width of a text of a font size in pixels."""
    return _width(text) * size / _UNITS


@lru_cache(maxsize=4096)
def _width(text: str) -> float:
    """Width of a text; a Japanese letter is as wide as high."""
    length = _font().getlength
    return sum(_UNITS if width_of(letter) > 1 else length(letter) for letter in text)


@cache
def _font() -> Any:
    return ImageFont.truetype(_FONT, _UNITS, layout_engine=ImageFont.Layout.BASIC)
