"""Assignment of tokens to words."""

from bisect import bisect_right
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from unicodedata import category

import numpy as np
from jaxtyping import Int32

from analysis.byte_characters import BYTES
from precompute.corpora.sequence import NO_WORD
from precompute.corpora.tokenizing.kind import MARK, Kind

_PART_OF_A_LETTER = "一"
"""Stands for bytes that are no whole character, as in a truncated text: mostly part of a letter of
a script whose letters take several bytes."""


def numbered_through(
    words: Sequence[int | None], sides: Sequence[int | None]
) -> Int32[np.ndarray, " token"]:
    """Number the words of one or two texts, so that no two texts share one.

    Args:
        words: word of each token within its text, None for added tokens.
        sides: index of each token's text.
    """
    places = [
        NO_WORD if word is None else 2 * word + (side or 0)
        for word, side in zip(words, sides, strict=True)
    ]
    return np.array(places, dtype=np.int32)


def words_of_spans(text: str, starts: Iterable[int]) -> list[int]:
    """Return the word of each token, from its start in the text.

    A run of letters, digits and the marks on them is a word, and so is every other character; a
    space belongs to what follows it. Bytes of one character start where it does.
    """
    words = _words_of_characters(text)
    return [words[min(start, len(text) - 1)] for start in starts]


def _words_of_characters(text: str) -> list[int]:
    words, word, before = [], -1, ""
    for character in text:
        goes_on = before == " " or (_is_letter(before) and _is_letter(character))
        word += not goes_on
        words.append(word)
        before = " " if character in " \u3000" else character
    return words


def _is_letter(character: str) -> bool:
    return character.isalnum() or category(character or " ").startswith("M")


def words_of_tokens(tokens: Sequence[str], kind: Kind) -> Int32[np.ndarray, " token"]:
    """Return the words of tokens without their text, equal to those of the text.

    If tokens hold the spaces of their text, the text is restored; else a token continues the word
    before it if the tokenizer's marks say so. Added tokens are words by themselves.
    """
    words: list[int] = []
    for is_added, group in groupby(tokens, key=kind.added.__contains__):
        run, first = list(group), words[-1] + 1 if words else 0
        of_run = range(len(run)) if is_added else _words_of_run(run, kind)
        words += [first + word for word in of_run]
    return np.array(words, dtype=np.int32)


def _words_of_run(tokens: list[str], kind: Kind) -> list[int]:
    """Return the words of tokens of one text, counted from 0."""
    if not kind.holds_spaces:
        return _words_by_marks(tokens, kind)
    text, starts = _put_together(tokens, kind)
    if kind.chunks is None:
        words = words_of_spans(text, starts)
    else:
        chunks = kind.chunks(text)
        words = [bisect_right(chunks, start) for start in starts]
    return np.unique(words, return_inverse=True)[1].tolist()


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
        if kind.is_bytes and all(character in BYTES for character in token):
            yield bytes(BYTES[character] for character in token)
        elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            yield bytes.fromhex(token[3:5])
        else:
            yield token.replace(MARK, " ").encode()
