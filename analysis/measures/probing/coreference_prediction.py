"""Which earlier mention a head picks as the antecedent of each mention."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

NONE = -1
"""In place of a word where there is no earlier mention to pick."""


def attended_antecedents(
    attention: Float[Tensor, "head word candidate"], heads: Int[Tensor, " mention"]
) -> Int[Tensor, "head mention"]:
    """The head word of an earlier mention that each mention's head word attends to most.

    A mention is earlier if its head word stands before: so no mention picks itself, and none
    picks what a causal model cannot see. Of words that get equally much the first is picked.

    Args:
        attention: between the words of one text.
        heads: the head word of every mention.

    Returns:
        Places of words; `NONE` for mentions that no other precedes.

    Source:
        clark-2019, section 4.3.

    Differs:
        The paper does not say among which words the head chooses: here among the head words of all
        earlier mentions, the same candidates that the rules choose from.
    """
    candidates = torch.unique(heads)
    given = attention[:, heads][:, :, candidates]
    is_earlier = candidates < heads[:, None]
    best = given.masked_fill(~is_earlier, -torch.inf).argmax(dim=-1)
    return torch.where(is_earlier.any(dim=1), candidates[best], NONE)
