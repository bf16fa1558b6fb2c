"""Errors of reconstructed scores, cross-covariances and attention against the model's own."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.completeness import visible_share
from analysis.measures.positions.query_key_correlation import scored_waves
from analysis.measures.positions.query_key_wave import cross_covariance
from analysis.measures.positions.relative_position_profile import diagonal_sums
from analysis.measures.positions.rotary_plane import planes_of, turns
from analysis.models.rotary import PatchRotary, Rotary
from analysis.models.trace import LayerTrace, LayerWeights

ERRORS = ("score_error", "trace_error", "attention_error")
_ROUNDINGS = 4
"""Queries, keys, their products and the softmax are each rounded on the way to attention."""


def query_key_error(layer: LayerTrace, dtype: torch.dtype | None = None) -> Float[Tensor, "3"]:
    """Relative errors of one sequence's scores, their diagonals and the attention they give.

    - Scores: the length of the difference between QSKᵀ and (X W_Q + b_Q)(X W_K + b_K)ᵀ over that of
      the latter; the worst query of any head.
    - Diagonals: the same between Σ_j s_j xcov_j(t) and tr_t of the scores, over that of the traces;
      the worst head.
    - Attention: the difference between the softmax of the scaled scores and the model's own α, over
      the distance of α from even attention; the worst query of any head.

    Each size is at least what the rounding of its summands leaves visible. In a layer that rotates
    queries and keys, QSKᵀ is replaced by sums over planes, Re Σ_c q_c conj(k_c) e^(−iθ_c t), plus
    the coordinates without rotation; the scores by products of rotated queries and keys. Offset
    terms are added to all of these.

    Args:
        layer: of a single sequence, without padding.
        dtype: the number format of the model's arithmetic; that of the trace if None.

    Returns:
        In the order of `ERRORS`; rounding leaves about 1e-6 in float32.

    Source:
        yamamoto-2023, section 3.3; section 3.5, eqs. 13 to 15. su-2021, section 3.2.1, eq. 12.
    """
    weights, inputs = layer.weights, layer.attention_input[0]
    queries, keys = weights.compared(inputs)
    waves, values, right = scored_waves(inputs, weights)
    left, rotary = waves * values[:, None], weights.rotary
    expected = weights.products(inputs)
    scores = _plane_scores(inputs, weights, rotary) if rotary else left @ right.mT
    summands = left.abs() @ right.abs().mT
    traces = cross_covariance(left, right).sum(dim=-1)
    if weights.offset_terms is not None:
        of_query, of_key, bias = weights.offset_terms.by_part(queries, keys)
        added = of_query + of_key + bias
        scores, traces = scores + added, traces + diagonal_sums(added)
        summands = summands + of_query.abs() + of_key.abs() + bias.abs()
    visible, scale = summands * visible_share(inputs.dtype), weights.score_scale
    may_look = weights.pairs(len(inputs)).to(scores.device)
    attention = weights.capped(scores * scale).masked_fill(~may_look, float("-inf")).softmax(dim=-1)
    actual = layer.attention[0]
    uneven = actual - may_look / may_look.sum(dim=-1, keepdim=True)
    rounded = actual * (1 + summands * scale) * _ROUNDINGS * visible_share(dtype or actual.dtype)
    parts = (
        _worst(scores, expected, size=expected, least=visible),
        _worst(
            traces,
            diagonal_sums(expected),
            size=diagonal_sums(expected),
            least=diagonal_sums(visible),
        ),
        _worst(attention, actual, size=uneven, least=rounded),
    )
    return torch.stack([part.double() for part in parts])


def _plane_scores(
    inputs: Float[Tensor, "token width"], weights: LayerWeights, rotary: Rotary | PatchRotary
) -> Float[Tensor, "head query key"]:
    """Scores summed over planes, each from a difference of angles, and unrotated coordinates."""
    sides = weights.queries(inputs), weights.keys(inputs)
    query, key = (planes_of(side, rotary) * rotary.scaling for side in sides)
    turn = turns(len(inputs), rotary, inputs)
    first = 2 * rotary.planes
    scores = sides[0][..., first:] @ sides[1][..., first:].mT
    for c in range(rotary.planes):
        by_offset = turn[:, None, c] * turn[None, :, c].conj()
        scores = scores + (query[:, :, None, c] * key[:, None, :, c].conj() * by_offset).real
    return scores


def _worst(
    actual: Float[Tensor, "*any value"],
    expected: Float[Tensor, "*any value"],
    *,
    size: Float[Tensor, "*any value"],
    least: Float[Tensor, "*any value"],
) -> Float[Tensor, ""]:
    """The largest relative error of any row of values."""
    missed = (actual - expected).norm(dim=-1)
    held = torch.maximum(size.abs(), least).norm(dim=-1)
    return (missed / held.clamp_min(torch.finfo(held.dtype).tiny)).max()
