"""What scores have of offsets, in the buckets of offsets that a layer tells apart."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.models.trace import LayerWeights

_ROUNDINGS = 8
"""By how many of them a score may differ from the mean of its row, and be as large as that."""


class OffsetTotals(NamedTuple):
    """Sums over the pairs (i, j) that a layer compares in one text; those of texts add up.

    By bucket r of offsets, with P_r and R_r what the layer's tables hold for it, b_r its bias, and
    d_ij a score less the mean of its row. All is as it enters the softmax.
    """

    query: Float[Tensor, "head bucket"]
    """Σ q_i · P_r over all pairs, whichever offset they have"""
    key: Float[Tensor, "head bucket"]
    """Σ k_j · R_r over all pairs"""
    bias: Float[Tensor, "head bucket"]
    """Σ b_r over all pairs"""
    deviation: Float[Tensor, "head bucket"]
    """Σ d_ij over the pairs whose offset is of the bucket"""
    query_part: Float[Tensor, "head bucket"]
    """Σ d_ij q_i · P_r over the same"""
    key_part: Float[Tensor, "head bucket"]
    """Σ d_ij k_j · R_r over the same"""
    score: Float[Tensor, "head bucket"]
    """Σ d_ij² over the same"""
    n_pairs: int


def offset_totals(read: Float[Tensor, "token width"], weights: LayerWeights) -> OffsetTotals:
    """The sums of one text, of every head and bucket of a layer.

    From them follow, of any number of texts: the score that position alone gives an offset,
    E q · P_r + E k · R_r + b_r; and how scores covary with what position, query and key give.

    Args:
        read: what attention reads, of one text without padding.
        weights: of a layer whose scores have terms of offsets.

    Returns:
        Sums in float64.

    Source:
        he-2021, section 3.1, eq. 4; raffel-2020, section 2.1; the split is ours.
    """
    terms = weights.offset_terms
    if terms is None:
        raise ValueError("The scores of the layer have no terms of offsets.")
    queries, keys = weights.compared(read)
    seen = weights.pairs(len(read)).to(read.device)
    n_pairs, n_buckets = int(seen.sum()), int(terms.buckets.max()) + 1
    of_query, of_key, of_bias = terms.by_part(queries, keys)
    scores = (queries @ keys.mT + (of_query + of_key + of_bias)) * weights.score_scale
    means = (scores * seen).sum(dim=-1, keepdim=True) / seen.sum(dim=-1, keepdim=True)
    centred = (scores - means) * seen
    rounded = _ROUNDINGS * torch.finfo(scores.dtype).eps * scores.abs().amax(dim=-1, keepdim=True)
    centred = centred.masked_fill(centred.abs() <= rounded, 0)  # where all keys match equally
    nothing = queries.new_zeros(len(queries), n_buckets, dtype=torch.float64)
    bucket_of_pair = terms.of_pairs(len(read)).flatten()

    def met(side: Tensor, times: Tensor, table: Tensor | None) -> Tensor:
        """The sum of a side over pairs, held against every row of a table."""
        if table is None:
            return nothing
        total = (side.double() * times[:, None]).sum(dim=1)
        products = torch.einsum("hw,hbw->hb", total, table[:, :n_buckets].double())
        return products * weights.score_scale

    def within(values: Tensor) -> Tensor:
        """Sums over the pairs of each bucket."""
        return nothing.index_add(1, bucket_of_pair, values.double().flatten(1))

    bias = nothing if terms.bias is None else terms.bias[:, :n_buckets].double()
    return OffsetTotals(
        query=met(queries, seen.sum(dim=1), terms.of_queries),
        key=met(keys, seen.sum(dim=0), terms.of_keys),
        bias=bias * n_pairs * weights.score_scale,
        deviation=within(centred),
        query_part=within(centred * of_query * weights.score_scale),
        key_part=within(centred * of_key * weights.score_scale),
        score=within(centred.square()),
        n_pairs=n_pairs,
    )


def bucket_ends(buckets: Int[Tensor, " offset"], reach: int) -> list[tuple[int, int, int]]:
    """Every bucket of the offsets within a reach, with the first and the last of its offsets.

    Args:
        buckets: `OffsetTerms.bucket_of` of the offsets from −reach to reach.

    Source:
        raffel-2020, section 2.1.
    """
    by_bucket: dict[int, tuple[int, int]] = {}
    for offset, bucket in enumerate(buckets.tolist(), start=-reach):
        first, _ = by_bucket.get(bucket, (offset, offset))
        by_bucket[bucket] = (first, offset)
    return [(bucket, *ends) for bucket, ends in by_bucket.items()]
