"""Which word a head takes for each word's governor, by what attends to what most."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

NOTHING = -1
"""What is predicted where a word has no candidate."""


def candidates(sentences: Int[Tensor, " word"]) -> Bool[Tensor, "word candidate"]:
    """Which words may govern each word: every other one of its sentence.

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
    """What every head predicts when dependents look at their governors, and the other way round.

    Args:
        attention: between the words of one text, what special tokens get already left out.
        is_causal: whether no word sees a word after itself; such pairs are no candidates.

    Returns:
        Places of words, by dependents' attention and by governors'; of equal weights the first
        word wins. `NOTHING` where a word has no candidate: the root is never predicted.

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
