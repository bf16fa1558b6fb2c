"""Part of the scores due to offsets between tokens, by the offset buckets of a layer."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.measures.positions.query_blocks import centred, query_blocks
from analysis.models.trace import LayerWeights

_ROUNDINGS = 8
"""Number of roundings by which a score may differ from its row's mean and still count as equal."""


class OffsetTotals(NamedTuple):
    """Sums over the pairs (i, j) that a layer compares in one text; sums of several texts add up.

    By bucket r of offsets, with P_r and R_r the vectors of the layer's tables, b_r its bias, and
    d_ij a score less the mean of its row. All is as it enters the softmax.
    """

    query: Float[Tensor, "head bucket"]
    """Σ q_i · P_r over all pairs, at any offset"""
    key: Float[Tensor, "head bucket"]
    """Σ k_j · R_r over all pairs"""
    bias: Float[Tensor, "head bucket"]
    """Σ b_r over all pairs"""
    deviation: Float[Tensor, "head bucket"]
    """Σ d_ij over the pairs with an offset in the bucket"""
    query_part: Float[Tensor, "head bucket"]
    """Σ d_ij q_i · P_r over these pairs"""
    key_part: Float[Tensor, "head bucket"]
    """Σ d_ij k_j · R_r over these pairs"""
    score: Float[Tensor, "head bucket"]
    """Σ d_ij² over these pairs"""
    n_pairs: int


def offset_totals(read: Float[Tensor, "token width"], weights: LayerWeights) -> OffsetTotals:
    """Sum the offset terms of one text, by head and bucket of a layer.

    Two results follow from the sums of any number of texts: the score that position alone gives an
    offset, E q · P_r + E k · R_r + b_r; and the covariance of scores with the parts of position,
    query and key.

    Args:
        read: input of attention, of one text without padding.
        weights: of a layer whose scores have offset terms.

    Returns:
        Sums in float64.

    Source:
        he-2021, section 3.1, eq. 4; raffel-2020, section 2.1; the split is ours.
    """
    terms = weights.offset_terms
    if terms is None:
        raise ValueError("The scores of the layer have no terms of offsets.")
    queries, keys = weights.compared(read)
    n_buckets = int(terms.buckets.max()) + 1
    bucket_of_pair = terms.of_pairs(len(read))
    nothing = queries.new_zeros(len(queries), n_buckets, dtype=torch.float64)
    within = {name: nothing.clone() for name in ("deviation", "query_part", "key_part", "score")}
    n_keys, n_queries = [], torch.zeros(len(read), dtype=torch.long, device=read.device)
    for rows, _, seen in query_blocks(weights, len(read)):
        of_query, of_key, of_bias = terms.by_part(queries, keys, rows)
        product = queries[:, rows] @ keys.mT
        scores = (product + (of_query + of_key + of_bias)) * weights.score_scale
        largest = scores.abs().amax(dim=-1, keepdim=True)
        deviations = centred(scores, seen)
        rounded = _ROUNDINGS * torch.finfo(scores.dtype).eps * largest
        deviations.masked_fill_(deviations.abs() <= rounded, 0)  # where all keys match equally
        summands = {
            "deviation": deviations,
            "query_part": deviations * of_query * weights.score_scale,
            "key_part": deviations * of_key * weights.score_scale,
            "score": deviations.square(),
        }
        buckets = bucket_of_pair[rows].flatten()
        for name, values in summands.items():
            within[name].index_add_(1, buckets, values.double().flatten(1))
        n_keys.append(seen.sum(dim=1))
        n_queries += seen.sum(dim=0)
    n_keys = torch.cat(n_keys)
    n_pairs = int(n_keys.sum())

    def met(side: Tensor, times: Tensor, table: Tensor | None) -> Tensor:
        """Products of the sum of a side over pairs with every row of a table."""
        if table is None:
            return nothing
        total = (side.double() * times[:, None]).sum(dim=1)
        products = torch.einsum("hw,hbw->hb", total, table[:, :n_buckets].double())
        return products * weights.score_scale

    bias = nothing if terms.bias is None else terms.bias[:, :n_buckets].double()
    return OffsetTotals(
        query=met(queries, n_keys, terms.of_queries),
        key=met(keys, n_queries, terms.of_keys),
        bias=bias * n_pairs * weights.score_scale,
        **within,
        n_pairs=n_pairs,
    )


def bucket_ends(buckets: Int[Tensor, " offset"], reach: int) -> list[tuple[int, int, int]]:
    """Return every bucket of the offsets within reach, with its first and last offset.

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
