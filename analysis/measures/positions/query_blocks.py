"""Blocks of queries, so that the scores of a long text take little memory."""

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor

from analysis.models.trace import LayerWeights

_SCORES = 2**22
"""Scores of a block, all heads together: 16 MB in float32."""


def query_blocks(
    weights: LayerWeights, n_tokens: int
) -> Iterator[tuple[slice, Bool[Tensor, "query key"]]]:
    """Yield the queries of a text in blocks, each with the mask of the keys that they see."""
    seen = weights.pairs(n_tokens).to(weights.query_weight.device)
    step = max(1, _SCORES // (len(weights.query_weight) * n_tokens))
    for first in range(0, n_tokens, step):
        rows = slice(first, first + step)
        yield rows, seen[rows]


def centred(
    scores: Float[Tensor, "head query key"], seen: Bool[Tensor, "query key"]
) -> Float[Tensor, "head query key"]:
    """Scores less the mean of their row's visible pairs; 0 for pairs that are not visible."""
    means = (scores * seen).sum(dim=-1, keepdim=True) / seen.sum(dim=-1, keepdim=True)
    return (scores - means) * seen
