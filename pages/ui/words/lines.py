"""How wide texts are, and lines of them."""

import re

_WIDE = "\u2e7f"  # characters after it are as wide as two letters
_PIECE = re.compile(rf"[^\s&{_WIDE}-\U0010ffff]+&?\s*|\S\s*")
_CLOSING = "、。）」』】〉》・：；？！"  # none of which begins a line


def width_of(text: str) -> int:
    """How many Latin letters a text is as wide as."""
    return sum(1 + (character > _WIDE) for character in text)


def with_capital(text: str) -> str:
    """A text as it begins a sentence: a Latin letter is a capital one."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def beginning(text: str, letters: int) -> str:
    """A text as it stands where there is little room, cut after so many letters."""
    return text if len(text) <= letters else f"{text[:letters].rstrip()} …"


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most so many Latin letters, of which a Japanese one takes two.

    Words stay whole; a longer word has a line of its own, and
    an address is broken between its parameters.
    """
    lines = [""]
    for piece in _PIECE.findall(text):
        full = width_of(lines[-1] + piece.rstrip()) > width
        if full and lines[-1] and piece[0] not in _CLOSING:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()]
