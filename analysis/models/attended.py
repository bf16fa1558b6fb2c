"""Attention of one layer as a model computed it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Attended:
    """Attention of one layer as it was computed: what was compared, and what came of it.

    `value` has one entry for each group of heads, `bias` the terms added to the scores. A `sink` is
    a logit of each head that enters the sum of the softmax and brings nothing. `scores` are those
    that entered the softmax, where a model computes attention by code of its own.
    """

    query: Float[Tensor, "batch head query head_width"]
    key: Float[Tensor, "batch group key head_width"]
    value: Float[Tensor, "batch group key value_width"]
    weights: Float[Tensor, "batch head query key"]
    mixed: Float[Tensor, "batch query head value_width"]
    scale: float
    cap: float | None
    bias: tuple[Tensor, ...]
    sink: Tensor | None
    scores: Tensor | None = None

    @property
    def values(self) -> Float[Tensor, "batch head key value_width"]:
        """Values of every head."""
        return of_every_head(self.value, self.query.shape[1], axis=1)


def weights_of(
    scores: Float[Tensor, "*batch head query key"],
    sink: Float[Tensor, " head"] | None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """Attention weights from scores that enter the softmax, and from the logits of sinks.

    With a sink logit s the weights are exp(z_j) / (exp(s) + Σ_k exp(z_k)); their sum is less than 1
    by the share that goes to no token.

    Args:
        dtype: number format of the softmax; that of the scores if None.
    """
    if sink is None:
        return scores.softmax(-1, dtype=dtype)
    taken = sink.to(scores)[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([scores, taken], -1).softmax(-1, dtype=dtype)[..., :-1]


def of_every_head(shared: Tensor, heads: int, *, axis: int) -> Tensor:
    """Repeat what belongs to groups of heads once for each head of the group."""
    repeats = heads // shared.shape[axis]
    return shared if repeats == 1 else shared.repeat_interleave(repeats, dim=axis)
