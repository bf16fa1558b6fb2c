"""Blocks of queries, so that the scores of a long text take little memory."""

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor

from analysis.models.trace import LayerWeights

_SCORES = 2**21
"""Scores of a block, all heads together: 8 MB in float32."""


def query_blocks(
    weights: LayerWeights, n_tokens: int
) -> Iterator[tuple[slice, slice, Bool[Tensor, "query key"]]]:
    """Yield the queries of a text in blocks, with the span of the keys that they see, and the mask.

    The span is that of all keys where scores have terms of offsets.

    Source:
        yamamoto-2023, section 3.5, eq. 15, whose scores they are.
    """
    seen = weights.pairs(n_tokens).to(weights.query_weight.device)
    step = max(1, _SCORES // (len(weights.query_weight) * n_tokens))
    for first in range(0, n_tokens, step):
        rows, keys = slice(first, min(first + step, n_tokens)), slice(0, n_tokens)
        if weights.offset_terms is None:
            reach = n_tokens if weights.window is None else weights.window
            last = rows.stop if weights.is_causal else min(rows.stop + reach, n_tokens)
            keys = slice(max(0, rows.start - reach), last)
        yield rows, keys, seen[rows, keys]


def centred(
    scores: Float[Tensor, "head query key"], seen: Bool[Tensor, "query key"]
) -> Float[Tensor, "head query key"]:
    """Scores less the mean of their row's visible pairs; 0 for pairs that are not visible.

    Source:
        yamamoto-2023, section 3.5, eq. 15; the softmax is invariant to a constant of a row.
    """
    hidden = ~seen
    visible = scores.masked_fill(hidden, 0)
    means = visible.sum(dim=-1, keepdim=True) / seen.sum(dim=-1, keepdim=True)
    return visible.sub_(means).masked_fill_(hidden, 0)
