"""Types of tokens, by the tokenizer's names of them."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Int32, UInt8
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerBase

from analysis.token_types import BOS, CLS, COMMA_PERIOD, OTHER, SEP, SPECIAL, TOKEN_TYPES
from precompute.corpora.tokenizing.encoded import PROBE

_IS_SPECIAL = np.isin(np.arange(len(TOKEN_TYPES)), SPECIAL)
_PLAIN = (*",.", *"，．", *"、。")
_COMMAS_AND_PERIODS = {
    *_PLAIN,
    *(ByteLevel(add_prefix_space=False).pre_tokenize_str(mark)[0][0] for mark in _PLAIN),
}
"""Commas and periods, also full-width and Japanese ones, and in the spelling of byte-level
tokenizers."""
WORD_STARTS = ("Ġ", "▁")
WORD_END = "</w>"


class TokenTypes:
    """The type of each id of a tokenizer; `FIRST` is the type of a place, and of no id.

    A tokenizer without a classification token or a separator has no token of that type. If one
    token serves as both, it marks an end and not a part, and neither type exists. `bos` is the
    token before every text, if it is no classification token; a token after every text, as in T5,
    is a separator.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        vocabulary = tokenizer.get_vocab()
        self._of_id = np.full(max(vocabulary.values()) + 1, OTHER, dtype=np.uint8)
        for token, identity in vocabulary.items():
            if _surface(token) in _COMMAS_AND_PERIODS:
                self._of_id[identity] = COMMA_PERIOD
        if tokenizer.cls_token != tokenizer.sep_token:
            for token, kind in ((tokenizer.cls_token, CLS), (tokenizer.sep_token, SEP)):
                if token in vocabulary:
                    self._of_id[vocabulary[token]] = kind
        for token, kind, place in ((tokenizer.bos_token, BOS, 0), (tokenizer.eos_token, SEP, -1)):
            if token != tokenizer.cls_token and _is_put(tokenizer, token, place):
                self._of_id[vocabulary[str(token)]] = kind

    def __call__(self, ids: Int32[np.ndarray, " token"]) -> UInt8[np.ndarray, " token"]:
        """Return positions in `TOKEN_TYPES`."""
        return self._of_id[ids]


def are_special(types: UInt8[np.ndarray, " token"]) -> Bool[np.ndarray, " token"]:
    """Return True for tokens of types that frame a text."""
    return _IS_SPECIAL[types]


def _is_put(tokenizer: PreTrainedTokenizerBase, token: Any, place: int) -> bool:
    """Return True if the tokenizer puts the token before (0) or after (−1) every text."""
    if token is None:
        return False
    ids: list[int] = tokenizer(PROBE, verbose=False)["input_ids"]
    return ids[place] == tokenizer.convert_tokens_to_ids(token)


def _surface(token: str) -> str:
    for start in WORD_STARTS:
        token = token.removeprefix(start)
    return token.removesuffix(WORD_END)
