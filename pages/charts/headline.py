"""Finding of a chart: its sentences, and its lines as the title of an exported picture."""

import re
from collections.abc import Iterable
from typing import Any

from pages.charts.title_lines import title_lines

_MARKED = re.compile(r"\*\*|`|\\(?=[^\w\s]|_)")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\W*[A-Z0-9])|(?<=。)")
_SIZE, _SUBTITLE_SIZE = 17, 13  # pixels of letters
_LARGE, _SMALL, _OFFSET = 21, 17, 10  # pixels of lines
_PAGE = 940  # pixels of a chart on a window 1280 wide
_LINES = 3  # lines of the further sentences, on a whole page


def unmarked(markdown: str) -> str:
    """Sentence without emphasis marks and escapes."""
    return _MARKED.sub("", markdown)


def emphasised(finding: str) -> str:
    """Finding for content without a title: its first sentence bold, in markdown."""
    first, *others = sentences(finding) or [""]
    bold = first.replace("**", "").strip()
    return f"**{bold}** {joined(others)}".strip() if bold else ""


def sentences(text: str) -> list[str]:
    """Sentences of an English or a Japanese text."""
    return [sentence for sentence in _NEXT_SENTENCE.split(text) if sentence]


def joined(texts: Iterable[str]) -> str:
    """Join sentences, with a space if the language has one."""
    return " ".join(texts).replace("。 ", "。")


def headline(finding: str, *, ink: str, pixels: float) -> dict[str, Any]:
    """Finding as the title of a chart: its first sentence large, the rest small.

    Args:
        finding: in markdown.
        ink: the colour of its letters.
        pixels: width of the chart.

    Returns:
        The title in Vega-Lite.
    """
    large, small = _lines(finding, pixels)
    return {
        "text": large,
        "subtitle": small,
        "anchor": "start",
        "frame": "bounds",
        "limit": 0,  # else Streamlit cuts what comes near the edge, though there is room
        "fontSize": _SIZE,
        "fontWeight": 600,
        "lineHeight": _LARGE,
        "subtitleFontSize": _SUBTITLE_SIZE,
        "subtitleLineHeight": _SMALL,
        "subtitlePadding": 4,
        "offset": _OFFSET,
        "color": ink,
        "subtitleColor": ink,
    }


def _lines(finding: str, pixels: float) -> tuple[list[str], list[str]]:
    """Lines of the first sentence, and of as many others as fit whole."""
    first, *others = sentences(unmarked(finding))
    most = round(_LINES * _PAGE / pixels)
    fitting = (
        title_lines(joined(others[:n]), pixels, _SUBTITLE_SIZE) for n in range(len(others), 0, -1)
    )
    small = next((lines for lines in fitting if len(lines) <= most), [])
    return title_lines(first, pixels, _SIZE), small
