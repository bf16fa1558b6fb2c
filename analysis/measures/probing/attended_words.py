"""Words picked by attention heads: those with the largest weight of all candidates."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.measures.probing.antecedents import NONE


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
        Places of other words of the same sentence, by dependents' attention and by governors'; of
        equal weights the first word wins. `NONE` where a word has no candidate: the root is never
        predicted.

    Source:
        clark-2019, section 4.2.
    """
    same = sentences[:, None] == sentences
    may_govern = same & ~torch.eye(len(sentences), dtype=torch.bool, device=same.device)
    seen = may_govern.tril() if is_causal else may_govern
    seen_by = may_govern.triu() if is_causal else may_govern
    return _largest(attention, seen), _largest(attention.mT, seen_by)


def _largest(
    weight: Float[Tensor, "head word candidate"], allowed: Bool[Tensor, "word candidate"]
) -> Int[Tensor, "head word"]:
    largest = weight.masked_fill(~allowed, -torch.inf).argmax(dim=-1)
    return largest.masked_fill(~allowed.any(dim=-1), NONE)


def attended_antecedents(
    attention: Float[Tensor, "head word candidate"], heads: Int[Tensor, " mention"]
) -> Int[Tensor, "head mention"]:
    """The head word of an earlier mention that each mention's head word attends to most.

    A mention is earlier if its head word precedes: so no mention picks itself, and none picks a
    word that a causal model hides. Of words with equal weights the first is picked.

    Args:
        attention: between the words of one text.
        heads: the head word of every mention.

    Returns:
        Places of words; `NONE` for mentions that no other precedes.

    Source:
        clark-2019, section 4.3.

    Differs:
        The paper does not state the candidates. Here they are the head words of all earlier
        mentions, as for the rules.
    """
    candidates = torch.unique(heads)
    given = attention[:, heads][:, :, candidates]
    is_earlier = candidates < heads[:, None]
    best = given.masked_fill(~is_earlier, -torch.inf).argmax(dim=-1)
    return torch.where(is_earlier.any(dim=1), candidates[best], NONE)
