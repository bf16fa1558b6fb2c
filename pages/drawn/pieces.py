"""Tokens as readable text: word beginnings, without the tokenizer's markers."""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from unicodedata import east_asian_width

from analysis.byte_characters import BYTES

_STANDS_CLOSE = re.compile(r"[.,;:!?)\]}%’”]+$")
_OPENS = frozenset("([{“‘")
_A_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_CONTINUES = "##"
_WHITE = "␣"
_WORD, _LINE, _SENTENCE_PIECE = "Ġ", "Ċ", "▁"
_SPACES = {_WORD: " ", _LINE: "\n", _SENTENCE_PIECE: " "}
_PART_OF_A_CHARACTER = "\u2009"  # narrow, but can be shaded and has a tooltip
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def readable(tokens: list[str]) -> list[tuple[str, str]]:
    """White space before each token, and the token without markers.

    Three conventions are told apart by the markers that occur: `##` on continuations of words, `Ġ`
    on beginnings of words (byte-level encoding), `▁` on beginnings of words. The pairs concatenate
    to the text.
    """
    if any(token.startswith(_WORD) for token in tokens):
        return list(_byte_pieces(tokens))
    if any(token.startswith(_SENTENCE_PIECE) for token in tokens):
        return list(_marked_pieces(tokens))
    return list(_word_pieces(tokens))


def written(tokens: list[str]) -> list[str]:
    """Tokens one by one: `##` stays, other markers go, and pure white space becomes visible."""
    pairs = zip(tokens, readable(tokens), strict=True)
    return [
        token if token.startswith(_CONTINUES) else piece.strip() or _WHITE
        for token, (_, piece) in pairs
    ]


def unique_names(tokens: list[str]) -> list[str]:
    """Readable tokens with their positions as indices, so that each has a name of its own."""
    pieces = enumerate(written(tokens))
    return [f"{name}{str(place).translate(_LOWERED)}" for place, name in pieces]


def _split(token: str) -> tuple[str, str]:
    """White space that a token's marker stands for, and the rest."""
    space = _SPACES.get(token[:1])
    return ("", token) if space is None else (space, token[1:])


def _byte_pieces(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Decode byte-level tokens; a character of several tokens is shown at the last of them."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    for token in tokens:
        space, rest = _split(token)
        if all(character in BYTES for character in rest):
            shown = decoder.decode(bytes(BYTES[character] for character in rest))
            yield space, shown or (_PART_OF_A_CHARACTER if rest else "")
        else:
            decoder.reset()
            yield space, rest


def _marked_pieces(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Decode marked tokens; a character written as its bytes is shown at the last of them."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    for token in tokens:
        if _A_BYTE.fullmatch(token):
            yield "", decoder.decode(bytes.fromhex(token[3:5])) or _PART_OF_A_CHARACTER
        else:
            decoder.reset()
            yield _split(token)


def _word_pieces(tokens: list[str]) -> Iterator[tuple[str, str]]:
    previous = "("
    for token in tokens:
        if token.startswith(_CONTINUES) and len(token) > len(_CONTINUES):
            yield "", token.removeprefix(_CONTINUES)
        elif _STANDS_CLOSE.match(token) or previous in _OPENS or _is_wide(previous[-1:], token[:1]):
            yield "", token
        else:
            yield " ", token
        previous = token


def _is_wide(*characters: str) -> bool:
    """Return True if one of the characters is full-width: no space is written next to those."""
    return any(east_asian_width(character or " ") in "WF" for character in characters)
