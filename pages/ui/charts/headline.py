"""Finding as the title of a chart, drawn inside it, so that it is visible in full screen too."""

import re
from collections.abc import Iterable
from numbers import Real
from typing import Any

from pages.ui.charts.chart_theme import paper_and_ink
from pages.ui.words.lines import wrapped

_MARKED = re.compile(r"\*\*|`|\\(?=[^\w\s]|_)")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\W*[A-Z0-9])|(?<=。)")
_TITLE, _SUBTITLE = 100, 130  # letters of a line
_LARGE, _SMALL, _OFFSET = 21, 17, 10  # pixels
_GAP = 34  # pixels between a title and the marks, with the legend there
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


def headlined(chart: Any, finding: str, *, room: float = 1.0) -> dict[str, Any]:
    """Properties of a chart with a finding above its marks, in the colour of the reader's theme.

    Args:
        chart: of Altair, or in Vega-Lite; one of several views takes no height.
        finding: in markdown; nothing if it is empty.
        room: as `headline` takes it.
    """
    if not finding:
        return {}
    title, taken = headline(finding, ink=paper_and_ink()[1], room=room)
    height = getattr(chart, "height", None)
    taller = {"height": height + taken} if isinstance(height, Real) else {}
    return {"title": title, **taller}


def headline(finding: str, *, ink: str, room: float = 1.0) -> tuple[dict[str, Any], int]:
    """Finding as the title of a chart: its first sentence large, the rest small.

    Args:
        finding: in markdown.
        ink: the colour of its letters.
        room: width of the chart, in widths of a page.

    Returns:
        The title in Vega-Lite, and its height in pixels.
    """
    first, *others = sentences(unmarked(finding))
    large = wrapped(first, round(_TITLE * room))
    small = _whole_sentences(others, round(_SUBTITLE * room), round(_LINES / room))
    title = {
        "text": large,
        "subtitle": small,
        "anchor": "start",
        "frame": "bounds",
        "limit": 0,  # else Streamlit cuts what comes near the edge, though there is room
        "fontSize": 17,
        "fontWeight": 600,
        "lineHeight": _LARGE,
        "subtitleFontSize": 13,
        "subtitleLineHeight": _SMALL,
        "subtitlePadding": 4,
        "offset": _OFFSET,
        "color": ink,
        "subtitleColor": ink,
    }
    return title, _GAP + _LARGE * len(large) + _SMALL * len(small)


def _whole_sentences(texts: list[str], letters: int, most: int) -> list[str]:
    """Lines of as many first sentences as fit, none of them cut."""
    fitting = (wrapped(joined(texts[:n]), letters) for n in range(len(texts), 0, -1))
    return next((lines for lines in fitting if len(lines) <= most), [])
