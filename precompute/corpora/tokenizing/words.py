"""Which word each token is a piece of."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import category

import numpy as np
from jaxtyping import Int32

from analysis.byte_characters import BYTES
from precompute.corpora.sequence import NO_WORD
from precompute.corpora.tokenizing.space_marks import MARK

_CONTINUES, _BYTE_SPACE = "##", "Ġ"


def numbered_through(
    words: Sequence[int | None], sides: Sequence[int | None]
) -> Int32[np.ndarray, " token"]:
    """Words of one or two texts, so that no two texts share one.

    Args:
        words: of each token the word within its text, None for tokens the tokenizer added.
        sides: of each token the text it is of.
    """
    places = [
        NO_WORD if word is None else 2 * word + (side or 0)
        for word, side in zip(words, sides, strict=True)
    ]
    return np.array(places, dtype=np.int32)


def words_of_spans(text: str, starts: Iterable[int]) -> list[int]:
    """The word of each token, from where in its text it starts.

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


def words_of_tokens(tokens: tuple[str, ...]) -> Int32[np.ndarray, " token"]:
    """Words of tokens without their text, known from how tokenizers mark pieces.

    Where tokens hold the spaces of their text, it is put together again; else a token goes on with
    the word before it if it bears the mark of WordPiece.
    """
    if any(token.startswith((_BYTE_SPACE, MARK)) for token in tokens):
        text, starts = _put_together(tokens)
        _, words = np.unique(words_of_spans(text, starts), return_inverse=True)
        return words.astype(np.int32)
    starts_word = np.array([not token.startswith(_CONTINUES) for token in tokens])
    starts_word[:1] = True
    return (np.cumsum(starts_word) - 1).astype(np.int32)


def _put_together(tokens: tuple[str, ...]) -> tuple[str, list[int]]:
    """The text of tokens, and where in it each of them starts."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    text, starts = "", []
    for part in _bytes_of(tokens):
        starts.append(len(text))
        text += decoder.decode(part)
    return text + decoder.decode(b"", final=True), starts


def _bytes_of(tokens: tuple[str, ...]) -> Iterator[bytes]:
    is_bytes = any(token.startswith(_BYTE_SPACE) for token in tokens)
    for token in tokens:
        if is_bytes and all(character in BYTES for character in token):
            yield bytes(BYTES[character] for character in token)
        elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            yield bytes.fromhex(token[3:5])
        else:
            yield token.replace(MARK, " ").encode()
