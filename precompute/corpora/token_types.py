"""Types of tokens, by the tokenizer's names of them, and sequences with some tokens masked."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int32, UInt8
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import UnfitModel, UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import BOS, CLS, COMMA_PERIOD, OTHER, SEP, SPECIAL, TOKEN_TYPES
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.corpora.tokenizing.encoded import PROBE

_IS_SPECIAL = np.isin(np.arange(len(TOKEN_TYPES)), SPECIAL)
_PLAIN = (*",.", *"，．", *"、。")
_COMMAS_AND_PERIODS = {
    *_PLAIN,
    *(ByteLevel(add_prefix_space=False).pre_tokenize_str(mark)[0][0] for mark in _PLAIN),
}
"""Commas and periods, also full-width and Japanese, and as byte-level tokenizers spell them."""
WORD_STARTS = ("Ġ", "▁")
WORD_END = "</w>"


class TokenTypes:
    """The type of each id of a tokenizer; `FIRST` is the type of a place, and of no id.

    A tokenizer without a classification token or a separator has no token of that type. If one
    token serves as both, it marks an end and not a part, and neither type exists. `bos` is the
    token before every text, if it is no classification token; a token after every text, as in T5,
    is a separator.
    """

    def __init__(self, tokenizer: Tokenizer):
        vocabulary = tokenizer.get_vocab()
        self._of_id = np.full(max(vocabulary.values()) + 1, OTHER, dtype=np.uint8)
        for token, identity in vocabulary.items():
            for start in WORD_STARTS:
                token = token.removeprefix(start)
            if token.removesuffix(WORD_END) in _COMMAS_AND_PERIODS:
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


def _is_put(tokenizer: Tokenizer, token: Any, place: int) -> bool:
    """Return True if the tokenizer puts the token before (0) or after (−1) every text."""
    if token is None:
        return False
    ids: list[int] = tokenizer(PROBE, verbose=False)["input_ids"]
    return ids[place] == tokenizer.convert_tokens_to_ids(token)


def check_masking(tokenizer: Tokenizer, rate: float) -> None:
    """Raise UserError if no sequence could be masked at this rate."""
    if not 0 <= rate < 1:
        raise UserError(f"--mask is {rate}; it must be at least 0 and less than 1.")
    if rate and tokenizer.mask_token_id is None:
        raise UnfitModel(
            f"The model's tokenizer has no mask token, so --mask {rate} cannot be done: "
            "use --mask 0 or a masked language model."
        )


def masked(sequence: Sequence, tokenizer: Tokenizer, *, rate: float, seed: int) -> Sequence:
    """Mask `max(1, floor(rate·k))` of a sequence's k tokens that are not special.

    The draw depends on the seed and the sequence's index alone, not on other sequences. A rate of 0
    masks nothing.

    Source:
        kobayashi-2024, section 4: 12% are 80% of the 15% that BERT was trained on.

    Differs:
        The released code draws all sequences from one generator, in the order of the file.
    """
    check_masking(tokenizer, rate)
    maskable = np.flatnonzero(~are_special(sequence.token_types)) if rate else ()
    if not len(maskable):
        return sequence
    draws = generator(seed, purpose="masking", index=sequence.index)
    n_masked = max(1, math.floor(rate * len(maskable)))
    positions = draws.choice(maskable, n_masked, replace=False)
    ids, token_types = sequence.ids.copy(), sequence.token_types.copy()
    words, masked = sequence.words.copy(), sequence.masked.copy()
    targets = np.full_like(ids, NO_TARGET)
    targets[positions] = np.where(masked[positions], NO_TARGET, ids[positions])
    ids[positions] = tokenizer.mask_token_id
    token_types[positions] = OTHER
    words[positions] = NO_WORD
    masked[positions] = True
    tokens = np.array(sequence.tokens, dtype=object)
    tokens[positions] = tokenizer.mask_token
    return replace(
        sequence,
        ids=ids,
        token_types=token_types,
        words=words,
        masked=masked,
        tokens=tuple(tokens.tolist()),
        targets=targets,
    )
