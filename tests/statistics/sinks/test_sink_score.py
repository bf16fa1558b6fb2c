"""Excess scores of places, which are those of all pairs, and what a layer lacks."""

from dataclasses import replace

import pytest
import torch

from analysis.measures.sinks.attention_sinks import sink_scores
from analysis.models.head_norm import HeadNormWeights
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights
from analysis.sinks import SCORES
from analysis.statistics.sinks import PLACES
from tests.statistics.sinks.places import masks_of, pairs_of, place_tokens, seen_by
from tests.tiny import turned_positions

Matrix = list[list[float]]


def excess_of(given: Matrix, seen: list[list[int]], tokens: list[int]) -> float | None:
    """Mean over queries of the scores on some tokens minus those on the others."""
    excesses = []
    for row, sees in zip(given, seen, strict=True):
        own = [row[j] for j in sees if j in tokens]
        others = [row[j] for j in sees if j not in tokens]
        if own and others:
            excesses.append(sum(own) / len(own) - sum(others) / len(others))
    return sum(excesses) / len(excesses) if excesses else None


def scores_of(read, weights: LayerWeights, types: list[list[str]]) -> torch.Tensor:
    n = read.shape[1]
    causal, window = weights.is_causal, weights.window
    seen = [seen_by(len(names), is_causal=causal, window=window) for names in types]
    return sink_scores(read, weights, pairs_of(seen, n), places=masks_of(types, n))


def turning(weights: LayerWeights) -> LayerWeights:
    """The same layer with rotary queries and keys."""
    planes = weights.query_weight.shape[-1] // 2
    frequencies = torch.tensor([1.0, 0.3, 0.05], dtype=weights.query_weight.dtype)[:planes]
    return replace(weights, rotary=Rotary(frequencies))


@turned_positions
def test_the_excess_is_that_of_the_scores_the_layer_compares(traced, sequences):
    """Models rotate queries and keys fully, after norms, or in part; with a bias or without."""
    types = [list(sequence.named_types) for sequence in sequences]
    for layer in traced.layers:
        sinks = scores_of(layer.attention_input, layer.weights, types)
        queries, keys = layer.weights.compared(layer.attention_input)
        scores = queries @ keys.mT * layer.weights.score_scale
        for row, names in enumerate(types):
            n = len(names)
            seen = seen_by(n, is_causal=True, window=layer.weights.window)
            for head, of_head in enumerate(scores[row, :, :n, :n].tolist()):
                for place, tokens in place_tokens(names).items():
                    excess = excess_of(of_head, seen, tokens)
                    numbers = sinks[row, head, PLACES.index(place)]
                    if excess is None:
                        assert numbers.isnan().all()
                        continue
                    assert numbers[0].item() == pytest.approx(excess, rel=1e-9, abs=1e-9)
                    parts = numbers[1:4].nan_to_num().sum().item()
                    assert parts == pytest.approx(excess, rel=1e-9, abs=1e-9)
        has_bias = layer.weights.key_norm is None and bool(layer.weights.key_bias.any())
        assert sinks[..., SCORES.index("bias")].isnan().all() == (not has_bias)


def test_what_a_layer_lacks_is_absent_and_not_0(traced, sequences):
    types = [list(sequence.named_types) for sequence in sequences]
    layer = traced.layers[0]
    weights = turning(layer.weights)
    bare = replace(
        weights,
        key_bias=torch.zeros_like(weights.key_bias),
        query_bias=torch.zeros_like(weights.query_bias),
    )
    scale = torch.ones_like(weights.key_bias[0])
    normed = replace(
        weights, query_norm=HeadNormWeights(scale, 1e-6), key_norm=HeadNormWeights(scale, 1e-6)
    )
    for changed in (bare, normed):
        scores = scores_of(layer.attention_input, changed, types)
        for name in ("bias", "query_bias"):
            assert scores[..., SCORES.index(name)].isnan().all(), name
        excess, norm, direction = scores[..., :3].unbind(dim=-1)
        torch.testing.assert_close(excess, norm + direction, equal_nan=True)
