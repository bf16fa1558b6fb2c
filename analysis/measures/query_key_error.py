"""Proof that queries, keys and their cross-covariances are those that the model compares."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.query_key_wave import cross_covariance, query_key_waves
from analysis.measures.relative_position_profile import diagonal_sums
from analysis.models.trace import LayerTrace, LayerWeights

ERRORS = ("score_error", "trace_error", "attention_error")


def query_key_error(layer: LayerTrace) -> Float[Tensor, "3"]:
    """What one sequence's scores, their diagonals and the attention made of them miss.

    The largest difference between QSKᵀ and (X W_Q + b_Q)(X W_K + b_K)ᵀ, over the largest of these
    scores; that between Σ_j s_j xcov_j(t) and tr_t of the scores, over the largest trace; and that
    between softmax(QSKᵀ / √d') and the model's own α, of the keys that a query may look at.

    Args:
        layer: of a single sequence, without padding.

    Returns:
        In the order of `ERRORS`; rounding leaves about 1e-6 in float32.

    Source:
        yamamoto-2023, section 3.3; section 3.5, eqs. 13 to 15.
    """
    weights, inputs = layer.weights, layer.attention_input[0]
    queries, keys = query_key_waves(inputs, weights.query_key)
    values = weights.query_key.values[:, None, :]
    scores, expected = (queries * values) @ keys.mT, _raw_scores(inputs, weights)
    traces = (cross_covariance(queries, keys) * values).sum(dim=-1)
    scaled = scores / weights.query_weight.shape[-1] ** 0.5
    may_look = weights.pairs(len(inputs)).to(scores.device)
    attention = scaled.masked_fill(~may_look, float("-inf")).softmax(dim=-1)
    parts = (
        _relative(scores, expected),
        _relative(traces, diagonal_sums(expected).double()),
        (attention - layer.attention[0]).abs().max(),
    )
    return torch.stack([each.double() for each in parts])


def _raw_scores(
    inputs: Float[Tensor, "token width"], weights: LayerWeights
) -> Float[Tensor, "head query key"]:
    queries = inputs @ weights.query_weight + weights.query_bias[:, None]
    keys = inputs @ weights.key_weight + weights.key_bias[:, None]
    return queries @ keys.mT


def _relative(found: Float[Tensor, "*any"], expected: Float[Tensor, "*any"]) -> Float[Tensor, ""]:
    smallest = torch.finfo(expected.dtype).tiny
    return (found - expected).abs().max() / expected.abs().max().clamp(min=smallest)
