"""Types of tokens, by what a tokenizer calls them."""

import numpy as np
from jaxtyping import Int32, UInt8
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerBase

from precompute.corpora.sequence import TOKEN_TYPES
from precompute.corpora.special_tokens import PROBE

CLS, SEP, COMMA_PERIOD, OTHER, REGISTER, BOS = range(len(TOKEN_TYPES))
SPECIAL = (BOS, CLS, SEP)
"""Types of the tokens that frame a text and stand for no part of it."""
_PLAIN = (*",.", *"，．", *"、。")
_COMMAS_AND_PERIODS = {
    *_PLAIN,
    *(ByteLevel(add_prefix_space=False).pre_tokenize_str(each)[0][0] for each in _PLAIN),
}
"""Also full-width and Japanese ones, and as byte-level tokenizers write them."""
WORD_STARTS = ("Ġ", "▁")
WORD_END = "</w>"


class TokenTypes:
    """The type of each id of a tokenizer.

    A tokenizer that lacks a classification token or a separator has no token of that type, and one
    that uses one token as both has neither: such a token marks an end and not a part. `bos` is the
    token that it puts before every text, where that is no classification token.
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
        if _puts_bos_first(tokenizer) and tokenizer.bos_token != tokenizer.cls_token:
            self._of_id[vocabulary[str(tokenizer.bos_token)]] = BOS

    def __call__(self, ids: Int32[np.ndarray, " token"]) -> UInt8[np.ndarray, " token"]:
        """Positions in `TOKEN_TYPES`."""
        return self._of_id[ids]


def _puts_bos_first(tokenizer: PreTrainedTokenizerBase) -> bool:
    if tokenizer.bos_token is None:
        return False
    ids: list[int] = tokenizer(PROBE, verbose=False)["input_ids"]
    return ids[0] == tokenizer.bos_token_id


def _surface(token: str) -> str:
    for start in WORD_STARTS:
        token = token.removeprefix(start)
    return token.removesuffix(WORD_END)
