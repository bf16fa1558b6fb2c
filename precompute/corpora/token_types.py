"""Types of tokens, by what a tokenizer calls them."""

import numpy as np
from jaxtyping import Int32, UInt8
from transformers import PreTrainedTokenizerBase

from precompute.corpora.sequence import TOKEN_TYPES

CLS, SEP, COMMA_PERIOD, OTHER, REGISTER = range(len(TOKEN_TYPES))
WORD_STARTS = ("Ġ", "▁")
WORD_END = "</w>"


class TokenTypes:
    """The type of each id of a tokenizer.

    A tokenizer that lacks a classification token or a separator has no token of that type, and one
    that uses one token as both has neither: such a token marks an end and not a part.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        vocabulary = tokenizer.get_vocab()
        self._of_id = np.full(max(vocabulary.values()) + 1, OTHER, dtype=np.uint8)
        for token, identity in vocabulary.items():
            if _surface(token) in {",", "."}:
                self._of_id[identity] = COMMA_PERIOD
        if tokenizer.cls_token != tokenizer.sep_token:
            for token, kind in ((tokenizer.cls_token, CLS), (tokenizer.sep_token, SEP)):
                if token in vocabulary:
                    self._of_id[vocabulary[token]] = kind

    def __call__(self, ids: Int32[np.ndarray, " token"]) -> UInt8[np.ndarray, " token"]:
        """Positions in `TOKEN_TYPES`."""
        return self._of_id[ids]


def _surface(token: str) -> str:
    for start in WORD_STARTS:
        token = token.removeprefix(start)
    return token.removesuffix(WORD_END)
