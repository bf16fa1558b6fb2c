"""Layout of a text in lines of fixed-width letters, and curves between its words.

Coordinates are letters across and lines down, so that a drawing is independent of its width.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

LETTERS = 96
"""Default number of letters to a line."""
FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', monospace"
_WIDE = 1 / 0.6  # a letter of a Chinese or Japanese text, next to a Latin one of fixed width
_ABOVE, _BELOW = 0.2, 0.16  # start of a curve above a word and its end below one, in lines
_STEPS = 16


@dataclass(frozen=True)
class Place:
    """Position of a word: its line, its first letter, and its width in letters."""

    line: int
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def width_of(text: str) -> float:
    """Width of a text in letters of fixed width; full-width characters count more."""
    return sum(_WIDE if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in text)


def places(words: pd.DataFrame, letters: int = LETTERS) -> list[Place]:
    """Positions of the words of a text; unspaced words are kept on one line if they fit.

    Args:
        words: rows form, space_after in the order of the text.
        letters: to a line.
    """
    word_places, line, x = [], 0, 0.0
    for group in _groups(words):
        if x and x + sum(group) > letters:
            line, x = line + 1, 0.0
        for width in group:
            if x and x + width > letters:
                line, x = line + 1, 0.0
            word_places.append(Place(line, x, width))
            x += width
        x += 1
    return word_places


def _groups(words: pd.DataFrame) -> Iterator[list[float]]:
    """Yield the widths of words, grouped where no space separates them."""
    group: list[float] = []
    for form, space in zip(words["form"], words["space_after"], strict=True):
        group.append(width_of(form))
        if space:
            yield group
            group = []
    if group:
        yield group


def spans(first: int, last: int, of: list[Place]) -> Iterator[Place]:
    """Yield the parts of lines from the first to the last word."""
    words = of[first : last + 1]
    for line in dict.fromkeys(word.line for word in words):
        here = [word for word in words if word.line == line]
        yield Place(line, here[0].x, here[-1].x + here[-1].width - here[0].x)


def curve(start: Place, end: Place) -> list[tuple[float, float]]:
    """Points of a curve from above one word to above another, or to below an earlier line."""
    if start.line == end.line:
        reach = abs(start.middle - end.middle)
        rise = min(0.16 + 0.008 * reach, 0.5) / 0.75
        top = start.line - _ABOVE
        ends = (start.middle, top), (end.middle, top)
        turns = (start.middle, top - rise), (end.middle, top - rise)
    else:
        ends = (start.middle, start.line - _ABOVE), (end.middle, end.line + _BELOW)
        turns = (start.middle, ends[0][1] - 0.4), (end.middle, ends[1][1] + 0.4)
    return [_point(step / _STEPS, (ends[0], *turns, ends[1])) for step in range(_STEPS + 1)]


def _point(t: float, points: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Point on a cubic Bézier curve."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * p[axis] for w, p in zip(weights, points, strict=True)) for axis in (0, 1))
    return x, y
