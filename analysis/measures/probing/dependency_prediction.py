"""Governors predicted by attention heads: the word with the largest weight."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

NOTHING = -1
"""Prediction for a word without candidates."""


def candidates(sentences: Int[Tensor, " word"]) -> Bool[Tensor, "word candidate"]:
    """Mask of the possible governors of each word: every other word of its sentence.

    Source:
        clark-2019, section 4.2.
    """
    same = sentences[:, None] == sentences[None, :]
    return same & ~torch.eye(len(sentences), dtype=torch.bool, device=same.device)


def predicted_governors(
    attention: Float[Tensor, "head word candidate"],
    sentences: Int[Tensor, " word"],
    *,
    is_causal: bool,
) -> tuple[Int[Tensor, "head word"], Int[Tensor, "head word"]]:
    """Governors predicted by every head, from dependents' attention and from governors' attention.

    Args:
        attention: between the words of one text, without weights of special tokens.
        is_causal: True if no word sees a later word; such pairs are no candidates.

    Returns:
        Places of words, by dependents' attention and by governors'; of equal weights the first word
        wins. `NOTHING` where a word has no candidate: the root is never predicted.

    Source:
        clark-2019, section 4.2.
    """
    may_govern = candidates(sentences)
    seen = may_govern.tril() if is_causal else may_govern
    seen_by = may_govern.triu() if is_causal else may_govern
    return _largest(attention, seen), _largest(attention.mT, seen_by)


def _largest(
    weight: Float[Tensor, "head word candidate"], allowed: Bool[Tensor, "word candidate"]
) -> Int[Tensor, "head word"]:
    largest = weight.masked_fill(~allowed, -torch.inf).argmax(dim=-1)
    return largest.masked_fill(~allowed.any(dim=-1), NOTHING)
