"""Drawing of charts by Vega, with local fonts and data only."""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

import vl_convert

from pages.words.say import say

_LATIN, _JAPANESE = "Fira Sans", "Noto Sans JP"
FONT = f"{_LATIN}, {_JAPANESE}, sans-serif"
IS_JAPANESE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_TEXT = re.compile("(<t(?:ext|span)[^>]*>)([^<]*)(?=</t(?:ext|span)>)")
"""Start and letters of a line; a text of several lines has a `tspan` for each."""
_FONTS = ("fontpkg_fira_sans", "pylopdf_fonts_jp")
_PIXELS_PER_INCH = 300
_ONE_AT_A_TIME = Lock()  # fonts are registered once, and a chart takes up to 200 MB


class NotDrawn(Exception):
    """Raised if a chart cannot be drawn."""

    def __init__(self, reason: str):
        super().__init__(f"A chart could not be drawn: {reason}")


def not_drawn() -> str:
    """Return the message for a chart that cannot be drawn."""
    return say("figure.not_drawn")


def svg_of(chart: dict[str, Any]) -> str:
    """Return a chart in Vega-Lite, with its data inside, as SVG.

    Raises:
        NotDrawn: like all functions below.
    """
    return in_fonts(_drawn(lambda: vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])))


def in_fonts(svg: str) -> str:
    """Set lines with Japanese letters in one font that has those and the Latin ones.

    For a line that needs several fonts, the renderer looks for another font with all letters.
    """
    return _TEXT.sub(_with_fonts, svg)


def _with_fonts(text: re.Match[str]) -> str:
    if not IS_JAPANESE.search(text[2]):
        return text[0]
    return f'{text[1]}<tspan font-family="{_JAPANESE}">{text[2]}</tspan>'


def png_of(svg: str) -> bytes:
    return _drawn(lambda: vl_convert.svg_to_png(svg, ppi=_PIXELS_PER_INCH))


def pdf_of(svg: str) -> bytes:
    return _drawn(lambda: vl_convert.svg_to_pdf(svg))


def scripts() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script."""
    return _drawn(lambda: vl_convert.javascript_bundle())  # pyright: ignore[reportCallIssue] - it has a default


def _drawn(draw: Callable[[], Any]) -> Any:
    with _ONE_AT_A_TIME:
        _register_fonts()
        try:
            return draw()
        except ValueError as error:
            raise NotDrawn(str(error)) from error


@cache
def _register_fonts() -> None:
    for fonts in _FONTS:
        vl_convert.register_font_directory(str(files(fonts)))
