"""Sequences with some of their tokens replaced by the mask token."""

import math
from dataclasses import replace

import numpy as np
from transformers import PreTrainedTokenizerBase

from analysis.errors import UnfitModel, UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import OTHER
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.corpora.token_types import are_special


def check_masking(tokenizer: PreTrainedTokenizerBase, rate: float) -> None:
    """Raise UserError if no sequence could be masked at this rate."""
    if not 0 <= rate < 1:
        raise UserError(f"--mask is {rate}; it must be at least 0 and less than 1.")
    if rate and tokenizer.mask_token_id is None:
        raise UnfitModel(
            f"The model's tokenizer has no mask token, so --mask {rate} cannot be done: "
            "use --mask 0 or a masked language model."
        )


def masked(
    sequence: Sequence, tokenizer: PreTrainedTokenizerBase, *, rate: float, seed: int
) -> Sequence:
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
    return _replaced(sequence, draws.choice(maskable, n_masked, replace=False), tokenizer)


def _replaced(
    sequence: Sequence, positions: np.ndarray, tokenizer: PreTrainedTokenizerBase
) -> Sequence:
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
