"""Antecedents picked by attention heads."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

NONE = -1
"""Value of a pick if no mention precedes."""


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
