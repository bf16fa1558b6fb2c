"""Assignment of tokens to words."""

from bisect import bisect_left, bisect_right
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
import regex
from jaxtyping import Int32

from analysis.byte_characters import BYTES
from precompute.corpora.tokenizing.kind import MARK, Kind

_PART_OF_A_LETTER = "一"
"""Stands for bytes that are no whole character, as in a truncated text, and for the unknown token:
both are mostly letters of a script that is not the tokenizer's own."""
_EXTENDS = r"\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}"
"""Characters that belong to the one before them, in a class: marks, joiners, soft hyphens,
variation selectors, tones of skin (rule WB4 of Unicode's word boundaries)."""
_WORD = regex.compile(
    rf"(?:[ \u3000][{_EXTENDS}]*)*(?:[\p{{L}}\p{{N}}{_EXTENDS}]+|\X[{_EXTENDS}]*)"
)
_UNIT = regex.compile(
    rf"(?:\p{{L}}(?:[{_EXTENDS}]+\p{{L}})*|\p{{N}}(?:[{_EXTENDS}]+\p{{N}})*|\X)[{_EXTENDS}]*"
)
"""A grapheme, or several whose letters or digits such characters join; no word ends within one."""
_GOES_ON = regex.compile(rf"(?<=\p{{L}}[{_EXTENDS}]*)\p{{L}}|(?<=\p{{N}}[{_EXTENDS}]*)\p{{N}}")
_BEGINS_WITHIN, _JOINER = regex.compile(f"[{_EXTENDS}]"), regex.compile(r"[\u00ad\u200c\u200d]+")


def words_of_spans(text: str, starts: Iterable[int]) -> list[int]:
    """Return the word of each token, from its start in the text.

    A run of letters and digits with the marks and joiners among them is a word, and so is every
    other grapheme; a space belongs to what follows it. Bytes of one character start where it does.
    """
    ends = [word.end() for word in _WORD.finditer(text)]
    return [bisect_right(ends, min(start, len(text) - 1)) for start in starts]


def words_of_tokens(
    tokens: Sequence[str], kind: Kind, known: Sequence[int] | None = None
) -> Int32[np.ndarray, " token"]:
    """Return the words of tokens, whether their text is known or not.

    If tokens hold the spaces of their text, the text is restored, as the tokenizer normalized it;
    else a token continues the word before it if the tokenizer's marks say so, or words are `known`
    by the tokenizer itself. Added tokens are words by themselves.
    """
    words: list[int] = list(known or ())
    for is_added, group in groupby(() if words else tokens, key=kind.added.__contains__):
        run, first = list(group), words[-1] + 1 if words else 0
        of_run = range(len(run)) if is_added else _words_of_run(run, kind)
        words += [first + word for word in of_run]
    return np.array(words if kind.holds_spaces else _joined(tokens, words), dtype=np.int32)


def _words_of_run(tokens: list[str], kind: Kind) -> list[int]:
    """Return the words of tokens of one text, counted from 0."""
    if not kind.holds_spaces:
        return _words_by_marks(tokens, kind)
    text, starts = _put_together(tokens, kind)
    if kind.chunks is None:
        words = words_of_spans(text, starts)
    else:
        begins = list(_beginnings(text, kind.chunks(text)))
        words = [bisect_right(begins, start) for start in starts]
    return np.unique(words, return_inverse=True)[1].tolist()


def _beginnings(text: str, chunks: Iterable[int]) -> Iterator[int]:
    """Yield the beginnings of chunks that no unit holds, and the ends of units that hold one, but
    among letters or among digits."""
    units = [*(unit.start() for unit in _UNIT.finditer(text)), len(text)]
    for start in chunks:
        place = units[bisect_left(units, start)]
        if place == start or not _GOES_ON.match(text, place):
            yield place


def _joined(tokens: Sequence[str], words: Sequence[int]) -> list[int]:
    """Join words, counted from 0, where one begins with a mark or stands after a joiner."""
    joined = [0] * len(tokens)
    for place, (before, token) in enumerate(pairwise(tokens), start=1):
        goes_on = words[place] == words[place - 1]
        goes_on |= bool(_BEGINS_WITHIN.match(token) or _JOINER.fullmatch(before))
        joined[place] = joined[place - 1] + (not goes_on)
    return joined


def _words_by_marks(tokens: list[str], kind: Kind) -> list[int]:
    words, word = [], 0
    for before, token in zip(("", *tokens), tokens, strict=False):
        goes_on = bool(kind.continues) and token.startswith(kind.continues)
        goes_on |= bool(kind.ends) and not before.endswith(kind.ends)
        word += bool(words) and not goes_on
        words.append(word)
    return words


def _put_together(tokens: list[str], kind: Kind) -> tuple[str, list[int]]:
    """Restore the text of tokens, and the start of each token in it."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    text, starts = "", []
    for part in _bytes_of(tokens, kind):
        starts.append(len(text))
        text += decoder.decode(part)
    text += decoder.decode(b"", final=True)
    return text.replace("\ufffd", _PART_OF_A_LETTER), starts


def _bytes_of(tokens: list[str], kind: Kind) -> Iterator[bytes]:
    for token in tokens:
        if token == kind.unknown:
            yield _PART_OF_A_LETTER.encode()
        elif kind.is_bytes and all(character in BYTES for character in token):
            yield bytes(BYTES[character] for character in token)
        elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            yield bytes.fromhex(token[3:5])
        else:
            yield token.replace(MARK, " ").encode()
