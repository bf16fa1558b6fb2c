"""Scores taken apart against loops over pairs, and what a layer lacks."""

import cmath
import math
from dataclasses import replace

import pytest
import torch

from analysis import head_slices
from analysis.measures.sinks.attention_sinks import sink_scores
from analysis.models.head_norm import HeadNormWeights
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights
from analysis.sinks import SCORES
from analysis.statistics.sinks import PLACES
from tests.statistics.sinks.places import masks_of, pairs_of, place_tokens, seen_by
from tests.tiny import FAMILIES, turned_positions

WINDOW = 3
each_family = pytest.mark.parametrize("family", FAMILIES, indirect=True, scope="session")
Vector = list[float]
Matrix = list[list[float]]


def dot(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(x: Vector, matrix: Matrix) -> Vector:
    return [sum(x[k] * matrix[k][c] for k in range(len(x))) for c in range(len(matrix[0]))]


def turned(vector: Vector, position: int, frequencies: Vector | None) -> Vector:
    """Planes as complex numbers rotated by their angles; further coordinates unchanged."""
    if frequencies is None:
        return vector
    planes = len(frequencies)
    numbers = [
        complex(vector[c], vector[c + planes]) * cmath.exp(1j * position * frequencies[c])
        for c in range(planes)
    ]
    return [
        *(number.real for number in numbers),
        *(number.imag for number in numbers),
        *vector[2 * planes :],
    ]


def scores_of_pairs(queries: Matrix, keys: Matrix, scale: float) -> Matrix:
    return [[scale * dot(query, key) for key in keys] for query in queries]


def taken_apart(
    queries: Matrix,
    keys: Matrix,
    biases: Matrix | None,
    *,
    scale: float,
    seen: list[list[int]],
    tokens: list[int],
) -> dict[str, float | None]:
    """Excess of some tokens' scores over those of the others, and its three parts.

    Args:
        queries: as the layer compares them, like `keys`, which are without their biases.
        biases: of every key, as the layer compares them; None if there are none.
    """
    parts: list[dict[str, float]] = []
    for query, sees in zip(queries, seen, strict=True):
        own = [j for j in sees if j in tokens]
        others = [j for j in sees if j not in tokens]
        if not own or not others:
            continue
        sides = []
        for side in (own, others):
            length = sum(math.sqrt(dot(keys[j], keys[j])) for j in side) / len(side)
            score = sum(scale * dot(query, keys[j]) for j in side) / len(side)
            bias = sum(scale * dot(query, biases[j]) for j in side) / len(side) if biases else 0.0
            sides.append((length, score, bias))
        (length, score, bias), (usual_length, usual_score, usual_bias) = sides
        angle, usual_angle = score / length, usual_score / usual_length
        # each factor's part: its own change at the other's value before and after, on average
        of_length = (length * angle - usual_length * angle) / 2
        of_length += (length * usual_angle - usual_length * usual_angle) / 2
        of_angle = (length * angle - length * usual_angle) / 2
        of_angle += (usual_length * angle - usual_length * usual_angle) / 2
        parts.append(
            {
                "excess": score + bias - usual_score - usual_bias,
                "norm": of_length,
                "direction": of_angle,
                "bias": bias - usual_bias,
            }
        )
    if not parts:
        return dict.fromkeys(("excess", "norm", "direction", "bias"))
    means: dict[str, float | None] = {
        name: sum(part[name] for part in parts) / len(parts) for name in parts[0]
    }
    return means if biases else means | {"bias": None}


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


def expected_of(weights: LayerWeights, read: torch.Tensor, head: int, types: list[str]) -> dict:
    """Twin's result for one head of one text, by place."""
    vectors = read[: len(types)].tolist()
    sides = {
        name: (
            getattr(weights, f"{name}_weight")[head].tolist(),
            getattr(weights, f"{name}_bias")[head].tolist(),
        )
        for name in ("query", "key")
    }
    rotary = weights.rotary
    waves = rotary.frequencies.tolist() if isinstance(rotary, Rotary) else None

    def at_places(vectors):
        return [turned(vector, place, waves) for place, vector in enumerate(vectors)]

    def with_bias(name):
        weight, bias = sides[name]
        made = (times(vector, weight) for vector in vectors)
        return [[a + b for a, b in zip(vector, bias, strict=True)] for vector in made]

    queries = at_places(with_bias("query"))
    keys = at_places([times(vector, sides["key"][0]) for vector in vectors])
    biased = {name: bool(getattr(weights, f"{name}_bias").any()) for name in sides}
    has_bias = waves and biased["key"]
    biases = at_places([sides["key"][1]] * len(vectors)) if has_bias else None
    of_bias = at_places([sides["query"][1]] * len(vectors))
    scale = weights.score_scale
    seen = seen_by(len(types), is_causal=weights.is_causal, window=weights.window)
    bare = scores_of_pairs(of_bias, at_places(with_bias("key")), scale)
    return {
        name: taken_apart(queries, keys, biases, scale=scale, seen=seen, tokens=tokens)
        | {"query_bias": excess_of(bare, seen, tokens) if biased["query"] else None}
        for name, tokens in place_tokens(types).items()
    }


@each_family
@pytest.mark.parametrize("kind", ["as it is", "turning", "windowed"])
def test_every_head_has_the_scores_of_the_twin(traced, sequences, kind, monkeypatch):
    monkeypatch.setattr(head_slices, "MOST_WEIGHTS", 1)  # one head after the other
    types = [list(sequence.named_types) for sequence in sequences]
    for layer in traced.layers:
        weights = layer.weights
        if kind == "turning":
            weights = turning(weights)
        if kind == "windowed":
            weights = replace(weights, window=WINDOW)
        scores = scores_of(layer.attention_input, weights, types).tolist()
        for row, names in enumerate(types):
            for head, of_head in enumerate(scores[row]):
                by_place = expected_of(weights, layer.attention_input[row], head, names)
                for place, values in zip(PLACES, of_head, strict=True):
                    expected = by_place.get(place, dict.fromkeys(SCORES))
                    for name, value in zip(SCORES, values, strict=True):
                        right = expected[name]
                        right = math.nan if right is None else right
                        assert value == pytest.approx(right, rel=1e-9, abs=1e-9, nan_ok=True)


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
