"""Drawing of charts by Vega, with local fonts and data only."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

import vl_convert

from pages.words.say import say

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
    return _drawn(lambda: vl_convert.vegalite_to_svg(chart, allowed_base_urls=[]))


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
