"""How wide texts are, and lines of them."""

import textwrap

_WIDE = "\u2e7f"  # characters after it are as wide as two letters
_CLOSING = "、。）」』】〉》・：；？！"  # none of which begins a line


def width_of(text: str) -> int:
    """How many Latin letters a text is as wide as."""
    return sum(1 + (each > _WIDE) for each in text)


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most so many Latin letters, of which a Japanese one takes two."""
    lines: list[str] = []
    for line in textwrap.wrap(text, width):
        lines.extend(_cut(line, width))
    return lines


def _cut(line: str, width: int) -> list[str]:
    """A line without spaces to break it at, cut where it is full."""
    found, start, taken = [], 0, 0
    for place, letter in enumerate(line):
        taken += width_of(letter)
        if taken > width and letter not in _CLOSING:
            found.append(line[start:place])
            start, taken = place, width_of(letter)
    return [*found, line[start:]]
