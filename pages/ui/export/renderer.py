"""Rendering of charts by Vega, in a process of its own.

V8, which Vega runs in, ends its process when memory runs out. Fonts and data are local only.
"""

import os
from base64 import b64encode
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import vl_convert

from pages.ui.limited_process.loop import Answer, answer_lines

_FONTS = ("fontpkg_fira_sans", "pylopdf_fonts_jp")
_PIXELS_PER_INCH = 300
_DRAWN: dict[str, Callable[[Any], str]] = {
    "svg": lambda chart: vl_convert.vegalite_to_svg(chart, allowed_base_urls=[]),
    "png": lambda svg: _text(vl_convert.svg_to_png(svg, ppi=_PIXELS_PER_INCH)),
    "pdf": lambda svg: _text(vl_convert.svg_to_pdf(svg)),
    "scripts": lambda _: vl_convert.javascript_bundle(),  # pyright: ignore[reportCallIssue] - it has a default
}


def opened() -> Answer:
    """Return the drawing function; V8's messages on charts that it cannot draw are dropped."""
    for fonts in _FONTS:
        vl_convert.register_font_directory(str(files(fonts)))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return _answered


def _answered(asked: tuple[str, Any]) -> dict[str, Any]:
    form, given = asked
    try:
        return {"drawn": _DRAWN[form](given)}
    except ValueError as error:
        return {"fault": str(error)}


def _text(picture: bytes) -> str:
    return b64encode(picture).decode("ascii")


if __name__ == "__main__":
    answer_lines(opened)
