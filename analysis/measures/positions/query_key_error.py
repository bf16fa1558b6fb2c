"""Errors of reconstructed scores, cross-covariances and attention against the model's own."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.mixing.completeness import visible_share
from analysis.measures.positions.query_blocks import query_blocks
from analysis.measures.positions.query_key_correlation import scored_waves
from analysis.measures.positions.query_key_wave import cross_covariance
from analysis.measures.positions.relative_position_profile import add_diagonals
from analysis.measures.positions.rotary_plane import planes_of, turns
from analysis.models.trace import LayerTrace, LayerWeights

ERRORS = ("score_error", "trace_error", "attention_error")
_TRACES = ("expected", "visible", "added")
_ROUNDINGS = 4
"""Queries, keys, their products and the softmax are each rounded on the way to attention."""


def relative_errors(layer: LayerTrace, dtype: torch.dtype | None = None) -> Float[Tensor, "3"]:
    """Relative errors of one sequence's scores, their diagonals and the attention they give.

    - Scores: the length of the difference between QSKᵀ and (X W_Q + b_Q)(X W_K + b_K)ᵀ over that of
      the latter; the worst query of any head.
    - Diagonals: the same between Σ_j s_j xcov_j(t) and tr_t of the scores, over that of the traces;
      the worst head.
    - Attention: the difference between the softmax of the scaled scores and the model's own α, over
      the distance of α from even attention; the worst query of any head.

    Each size is at least what the rounding of its summands leaves visible. In a layer that rotates
    queries and keys, QSKᵀ is replaced by sums over planes, Re Σ_c (q_c e^(iθ_c i)) conj(k_c
    e^(iθ_c j)), plus the coordinates without rotation; the scores by products of rotated queries
    and keys. Offset terms are added to all of these.

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
    left, right = _sides(inputs, weights)
    worst = inputs.new_zeros(2)
    traces = {name: queries.new_zeros(len(queries), 2 * len(inputs) - 1) for name in _TRACES}
    for rows, seen in query_blocks(weights, len(inputs)):
        expected = weights.products_of(queries, keys, rows)
        scores = left[:, rows] @ right.mT
        summands = left[:, rows].abs() @ right.abs().mT
        if weights.offset_terms is not None:
            terms = weights.offset_terms.by_part(queries, keys, rows)
            added = torch.stack(terms).sum(dim=0)
            scores = scores + added
            summands = summands + torch.stack(terms).abs().sum(dim=0)
            add_diagonals(traces["added"], added, rows.start)
        visible = summands * visible_share(inputs.dtype)
        add_diagonals(traces["expected"], expected, rows.start)
        add_diagonals(traces["visible"], visible, rows.start)
        errors = (
            _worst(scores, expected, size=expected, least=visible),
            _attention_error(layer, rows, seen, scores, summands=summands, dtype=dtype),
        )
        worst = torch.maximum(worst, torch.stack(errors))
    found = cross_covariance(left, right).sum(dim=-1) + traces["added"]
    expected, visible = traces["expected"], traces["visible"]
    of_traces = _worst(found, expected, size=expected, least=visible)
    return torch.stack([part.double() for part in (worst[0], of_traces, worst[1])])


def _attention_error(
    layer: LayerTrace,
    rows: slice,
    seen: Bool[Tensor, "query key"],
    scores: Float[Tensor, "head query key"],
    *,
    summands: Float[Tensor, "head query key"],
    dtype: torch.dtype | None,
) -> Float[Tensor, ""]:
    """Largest relative error of attention rebuilt from the scores of some queries."""
    weights, actual = layer.weights, layer.attention[0, :, rows]
    scale = weights.score_scale
    rebuilt = weights.capped(scores * scale).masked_fill(~seen, float("-inf")).softmax(dim=-1)
    uneven = actual - seen / seen.sum(dim=-1, keepdim=True)
    rounded = actual * (1 + summands * scale) * _ROUNDINGS * visible_share(dtype or actual.dtype)
    return _worst(rebuilt, actual, size=uneven, least=rounded)


def _sides(
    inputs: Float[Tensor, "token width"], weights: LayerWeights
) -> tuple[Float[Tensor, "head token direction"], Float[Tensor, "head token direction"]]:
    """Two sides whose products are the scores before scaling, but for offset terms.

    They are the waves of singular directions, or, of rotated queries and keys, each plane as a
    complex number times e^(iθp), and the coordinates without rotation.
    """
    rotary = weights.rotary
    if rotary is None:
        waves, values, right = scored_waves(inputs, weights)
        return waves * values[:, None], right
    turn = turns(len(inputs), rotary, inputs) * rotary.scaling

    def side(vectors: Tensor) -> Tensor:
        planes = planes_of(vectors, rotary) * turn
        return torch.cat([planes.real, planes.imag, vectors[..., 2 * rotary.planes :]], dim=-1)

    return side(weights.queries(inputs)), side(weights.keys(inputs))


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
