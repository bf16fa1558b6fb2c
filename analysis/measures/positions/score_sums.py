"""Sums over pairs behind scores by position: of rotary planes and of offset buckets."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from analysis.models.rotary import PatchRotary, Rotary
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


class PlaneTotals(NamedTuple):
    """Sums over the pairs (i, j) that a layer compares in one text; sums of several texts add up.

    q and k are the query and the key of a plane before rotation, as complex numbers, the query
    times the scale of the scores; t = j − i, and d_ij is a score less the mean of its row.
    """

    query: Complex[Tensor, "head plane"]
    """Σ q_i"""
    key: Complex[Tensor, "head plane"]
    """Σ k_j"""
    query_square: Float[Tensor, "head plane"]
    """Σ |q_i|²"""
    key_square: Float[Tensor, "head plane"]
    """Σ |k_j|²"""
    turn: Complex[Tensor, "head plane"]
    """Σ d_ij e^(−iθt)"""
    query_turn: Complex[Tensor, "head plane"]
    """Σ d_ij q_i e^(−iθt)"""
    key_turn: Complex[Tensor, "head plane"]
    """Σ d_ij conj(k_j) e^(−iθt)"""
    score: Float[Tensor, "head plane"]
    """Σ d_ij Re(q_i conj(k_j) e^(−iθt))"""
    unturned: Float[Tensor, " head"]
    """The same sum over the unrotated coordinates; with that of all planes it makes Σ d_ij²."""
    n_pairs: int


def planes_of(
    vectors: Float[Tensor, "*any token head_width"], rotary: Rotary | PatchRotary
) -> Complex[Tensor, "*any token plane"]:
    """The coordinates of each plane as one complex number: x_c + i x_{c + planes}.

    Source:
        su-2021, section 3.2.1, eq. 12.
    """
    planes = rotary.planes
    real, imaginary = vectors[..., :planes], vectors[..., planes : 2 * planes]
    return torch.complex(real, imaginary)


def turns(
    n_tokens: int, rotary: Rotary | PatchRotary, like: Float[Tensor, "*any"]
) -> Complex[Tensor, "token plane"]:
    """e^(iθp) of every plane at every place p; of patches, by their angles.

    Source:
        su-2021, section 3.2.1, eq. 12.
    """
    angles = rotary.angles(n_tokens, like)
    return torch.complex(angles.cos(), angles.sin())


def plane_totals(read: Float[Tensor, "token width"], weights: LayerWeights) -> PlaneTotals:
    """Sum the terms of one text, by head and plane of a layer.

    From the sums of any number of texts follow:
    - E q and E k over the pairs;
    - the score that a plane gives an offset by position alone, Re(E q conj(E k) e^(−iθt));
    - its coherence, |E q| |E k| / √(E|q|² E|k|²): 1 where all queries are equal and all keys are,
      and 0 where one side has mean 0;
    - the covariance of the scores with the parts of position, query and key.

    Args:
        read: input of attention, of one text without padding.
        weights: of a layer that rotates its queries and keys.

    Returns:
        Sums in float64; scores as they enter the softmax.

    Source:
        su-2021, section 3.2.1, eq. 12; yamamoto-2023, section 3.4, whose phase it is.

    Differs:
        The paper's phases are those of a rotation between singular directions, which does not occur
        in scores of rotated queries and keys. Here they are those of the mean query and the mean
        key. Rows are centred, since the softmax is invariant to a score that all keys of a query
        share.
    """
    rotary = weights.rotary
    if not isinstance(rotary, Rotary):
        raise ValueError("The layer does not turn its queries and keys by their places in a text.")
    queries, keys = weights.compared(read)
    queries = queries * weights.score_scale
    turn = turns(len(read), rotary, read)
    query, key = (planes_of(side, rotary) for side in (queries, keys))
    sides = torch.cat([turn.real, -turn.imag], dim=-1).expand(len(keys), -1, -1)
    sides = torch.cat([keys, sides], dim=-1)
    products, n_keys = [], []
    n_queries = torch.zeros(len(read), 1, dtype=torch.long, device=read.device)
    for rows, span, seen in query_blocks(weights, len(read)):
        deviations = centred(queries[:, rows] @ keys[:, span].mT, seen)
        products.append(deviations @ sides[:, span])
        n_keys.append(seen.sum(dim=1)[:, None])
        n_queries[span] += seen.sum(dim=0)[:, None]
    n_keys, planes = torch.cat(n_keys), rotary.planes
    with_keys, *waves = torch.cat(products, dim=1).split([keys.shape[-1], planes, planes], dim=-1)
    by_query = torch.complex(*waves)
    by_coordinate = _total(queries * with_keys)
    return PlaneTotals(
        query=_total(query * turn.conj() * n_keys),
        key=_total(key * turn.conj() * n_queries),
        query_square=_total(query.abs().square() * n_keys),
        key_square=_total(key.abs().square() * n_queries),
        turn=_total(turn * by_query),
        query_turn=_total(query * by_query),
        key_turn=_total(turn * planes_of(with_keys, rotary).conj()),
        score=by_coordinate[:, :planes] + by_coordinate[:, planes : 2 * planes],
        unturned=by_coordinate[:, 2 * planes :].sum(dim=1),
        n_pairs=int(n_keys.sum()),
    )


def _total(values: Tensor) -> Tensor:
    """Sum over tokens, in 64 bits."""
    wide = torch.complex128 if values.is_complex() else torch.float64
    return values.sum(dim=1, dtype=wide)


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
