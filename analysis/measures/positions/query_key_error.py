"""Errors of reconstructed scores, cross-covariances and attention against the model's own."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.mixing.completeness import visible_share
from analysis.measures.positions.query_key_wave import cross_covariance, scored_waves
from analysis.measures.positions.relative_position_profile import add_diagonals
from analysis.measures.positions.score_sums import planes_of, query_blocks, turns
from analysis.models.trace import LayerTrace, LayerWeights

ERRORS = ("score_error", "trace_error", "attention_error")
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

    All are of the pairs that the layer compares. Each length is at least what the rounding of its
    summands leaves visible. In a layer that rotates queries and keys, QSKᵀ is replaced by sums over
    planes, Re Σ_c (q_c e^(iθ_c i)) conj(k_c e^(iθ_c j)), plus the coordinates without rotation; the
    scores by products of rotated queries and keys. Offset terms are added to all of these.

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
    visible, worst = visible_share(inputs.dtype), inputs.new_zeros(2)
    expected, summands, added = queries.new_zeros(3, len(queries), 2 * len(inputs) - 1)
    for rows, span, seen in query_blocks(weights, len(inputs)):
        hidden = ~seen
        scores = left[:, rows] @ right[:, span].mT
        of_model = weights.products_of(queries, keys, rows, span).masked_fill_(hidden, 0)
        largest = left[:, rows].abs() @ right[:, span].abs().mT
        if weights.offset_terms is not None:
            terms = torch.stack(weights.offset_terms.by_part(queries, keys, rows))
            scores += terms.sum(dim=0)
            largest += terms.abs().sum(dim=0)
            add_diagonals(added, terms.sum(dim=0), rows.start)
        largest.masked_fill_(hidden, 0)
        missed = (scores - of_model).masked_fill_(hidden, 0)
        add_diagonals(expected, of_model, rows.start - span.start)
        add_diagonals(summands, largest, rows.start - span.start)
        errors = (
            _worst(missed, of_model, least=_lengths(largest) * visible),
            _attention_error(
                layer, rows, span, scores, hidden=hidden, largest=largest, dtype=dtype
            ),
        )
        worst = torch.maximum(worst, torch.stack(errors))
    there = _offsets(weights, len(inputs)).to(inputs.device)
    found = cross_covariance(left, right).sum(dim=-1) + added
    of_traces = _worst(
        (found - expected)[:, there],
        expected[:, there],
        least=_lengths(summands[:, there]) * visible,
    )
    return torch.stack([part.double() for part in (worst[0], of_traces, worst[1])])


def _offsets(weights: LayerWeights, n_tokens: int) -> Bool[Tensor, " diagonal"]:
    """Return the mask of the offsets that the layer compares, of all from 1 − n to n − 1."""
    seen = weights.pairs(n_tokens)
    return torch.cat([seen[:, 0].flip(0), seen[0, 1:]])


def _attention_error(
    layer: LayerTrace,
    rows: slice,
    span: slice,
    scores: Float[Tensor, "head query key"],
    *,
    hidden: Bool[Tensor, "query key"],
    largest: Float[Tensor, "head query key"],
    dtype: torch.dtype | None,
) -> Float[Tensor, ""]:
    """Largest relative error of attention rebuilt from the scores of some queries."""
    weights, actual = layer.weights, layer.attention[0, :, rows, span]
    scale = weights.score_scale
    entering = weights.capped(scores * scale).masked_fill_(hidden, float("-inf"))
    rebuilt = weights.weights_of(entering)
    seen = ~hidden
    rounded = torch.addcmul(actual, actual, largest, value=scale)
    least = _lengths(rounded) * _ROUNDINGS * visible_share(dtype or actual.dtype)
    return _worst(rebuilt - actual, actual - seen / seen.sum(dim=-1, keepdim=True), least=least)


def _lengths(rows: Float[Tensor, "*any value"]) -> Float[Tensor, "*any"]:
    return torch.linalg.vector_norm(rows, dim=-1)


def _worst(
    missed: Float[Tensor, "*any value"],
    size: Float[Tensor, "*any value"],
    *,
    least: Float[Tensor, "*any"],
) -> Float[Tensor, ""]:
    """Return the largest relative error of any row of values."""
    held = torch.maximum(_lengths(size), least)
    return (_lengths(missed) / held.clamp_min(torch.finfo(held.dtype).tiny)).max()


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
