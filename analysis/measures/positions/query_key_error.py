"""Proof that queries, keys and their cross-covariances are those that the model compares."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.completeness import visible_share
from analysis.measures.positions.query_key_wave import cross_covariance, query_key_waves
from analysis.measures.positions.relative_position_profile import diagonal_sums
from analysis.models.trace import LayerTrace, LayerWeights

ERRORS = ("score_error", "trace_error", "attention_error")
_ROUNDINGS = 4
"""Queries, keys, their products and the softmax are each rounded on the way to attention."""


def query_key_error(layer: LayerTrace, dtype: torch.dtype | None = None) -> Float[Tensor, "3"]:
    """What one sequence's scores, their diagonals and the attention made of them miss.

    The length of the difference between QSKᵀ and (X W_Q + b_Q)(X W_K + b_K)ᵀ over that of these
    scores, of the worst query of any head; that between Σ_j s_j xcov_j(t) and tr_t of the scores
    over that of the traces, of the worst head; and that between softmax(QSKᵀ / √d') and the model's
    own α over the distance of α from even attention, of the worst query of any head. Each size is
    at least what the rounding of its summands leaves visible.

    Args:
        layer: of a single sequence, without padding.
        dtype: the number format of the model's arithmetic; that of the trace if None.

    Returns:
        In the order of `ERRORS`; rounding leaves about 1e-6 in float32.

    Source:
        yamamoto-2023, section 3.3; section 3.5, eqs. 13 to 15.
    """
    weights, inputs = layer.weights, layer.attention_input[0]
    queries, keys = query_key_waves(inputs, weights.query_key)
    values = weights.query_key.values[:, None, :]
    scores, expected = (queries * values) @ keys.mT, _raw_scores(inputs, weights)
    summands = (queries * values).abs() @ keys.abs().mT
    traces = (cross_covariance(queries, keys) * values).sum(dim=-1)
    visible = summands * visible_share(inputs.dtype)
    width = weights.query_weight.shape[-1] ** 0.5
    may_look = weights.pairs(len(inputs)).to(scores.device)
    attention = (scores / width).masked_fill(~may_look, float("-inf")).softmax(dim=-1)
    found = layer.attention[0]
    uneven = found - may_look / may_look.sum(dim=-1, keepdim=True)
    rounded = found * (1 + summands / width) * _ROUNDINGS * visible_share(dtype or found.dtype)
    parts = (
        _worst(scores, expected, size=expected, least=visible),
        _worst(
            traces,
            diagonal_sums(expected),
            size=diagonal_sums(expected),
            least=diagonal_sums(visible),
        ),
        _worst(attention, found, size=uneven, least=rounded),
    )
    return torch.stack([each.double() for each in parts])


def _raw_scores(
    inputs: Float[Tensor, "token width"], weights: LayerWeights
) -> Float[Tensor, "head query key"]:
    queries = inputs @ weights.query_weight + weights.query_bias[:, None]
    keys = inputs @ weights.key_weight + weights.key_bias[:, None]
    return queries @ keys.mT


def _worst(
    found: Float[Tensor, "*any value"],
    expected: Float[Tensor, "*any value"],
    *,
    size: Float[Tensor, "*any value"],
    least: Float[Tensor, "*any value"],
) -> Float[Tensor, ""]:
    """The largest relative error of any row of values."""
    missed = (found - expected).norm(dim=-1)
    held = torch.maximum(size.abs(), least).norm(dim=-1)
    return (missed / held.clamp_min(torch.finfo(held.dtype).tiny)).max()
