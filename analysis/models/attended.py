"""Attention of one layer as a model computed it."""

from dataclasses import dataclass

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


def of_every_head(shared: Tensor, heads: int, *, axis: int) -> Tensor:
    """Repeat what belongs to groups of heads once for each head of the group."""
    repeats = heads // shared.shape[axis]
    return shared if repeats == 1 else shared.repeat_interleave(repeats, dim=axis)
