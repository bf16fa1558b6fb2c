"""Width of texts, and division into lines."""

import re
from collections.abc import Callable

_WIDE = "\u2e7f"  # characters after it are as wide as two letters
_OPENING = "（「『【〈《"  # never at the end of a line
_PIECE = re.compile(rf"[{_OPENING}]*(?:[^\s&{_WIDE}-\U0010ffff]+&?|\S)\s*")
_CLOSING = "、。）」』】〉》・：；？！"  # never at the beginning of a line


def width_of(text: str) -> int:
    """Width of a text in Latin letters; a Japanese letter counts as two."""
    return sum(1 + (character > _WIDE) for character in text)


def with_capital(text: str) -> str:
    """Text with a capital first letter, if that is Latin."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def beginning(text: str, letters: int) -> str:
    """Beginning of a text, cut after a number of letters."""
    return text if len(text) <= letters else f"{text[:letters].rstrip()} …"


def wrapped(text: str, width: float, measure: Callable[[str], float] = width_of) -> list[str]:
    """Divide a text into lines of at most `width`, by default in Latin letters.

    Words stay whole; a longer word has a line of its own, and an address is broken between its
    parameters.

    Args:
        measure: additive over the letters of a text.
    """
    lines, taken = [""], 0.0
    for piece in _PIECE.findall(text):
        full = taken + measure(piece.rstrip()) > width
        if full and lines[-1] and piece[0] not in _CLOSING:
            lines.append("")
            taken = 0.0
        lines[-1] += piece
        taken += measure(piece)
    return [line.rstrip() for line in lines if line.strip()]
