"""Which word each token is a piece of."""

import numpy as np
from jaxtyping import Int32

from precompute.corpora.sequence import NO_WORD
from precompute.corpora.token_types import WORD_STARTS

_CONTINUES = "##"


def words_of_texts(words: list[int | None], sides: list[int | None]) -> Int32[np.ndarray, " token"]:
    """Words of one or two texts, numbered through, from what a fast tokenizer knows of its tokens.

    Args:
        words: of each token the word within its text, None for tokens the tokenizer added.
        sides: of each token the text it is of.
    """
    places = [
        NO_WORD if word is None else 2 * word + (side or 0)
        for word, side in zip(words, sides, strict=True)
    ]
    return np.array(places, dtype=np.int32)


def words_of_tokens(tokens: tuple[str, ...]) -> Int32[np.ndarray, " token"]:
    """Words of tokens without their text, known from how tokenizers mark pieces.

    A token goes on with the word before it if it bears the mark of WordPiece. Where the starts of
    words are marked, it does if it is not marked and both are of letters and digits.
    """
    marks_starts = any(token.startswith(WORD_STARTS) for token in tokens)
    continues = [
        token.startswith(_CONTINUES)
        or (
            marks_starts
            and token.isalnum()
            and not token.startswith(WORD_STARTS)
            and _is_word(before)
        )
        for before, token in zip(("", *tokens), tokens, strict=False)
    ]
    starts = ~np.array(continues, dtype=bool)
    starts[:1] = True
    return (np.cumsum(starts) - 1).astype(np.int32)


def _is_word(token: str) -> bool:
    return token.lstrip("".join(WORD_STARTS)).isalnum()
