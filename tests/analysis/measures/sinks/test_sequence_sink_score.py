"""Scores taken apart against loops over pairs, planted causes, and the law that parts add up."""

import math
from dataclasses import replace

import pytest
import torch

from analysis.measures.sinks.sequence_sink_score import sink_scores
from analysis.models.head_norm import HeadNormWeights
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights, in_dtype
from analysis.sinks import SCORES
from tests.analysis.measures.sinks.places import NAMES, pairs_of, places_of, seen_by
from tests.reference.sinks import sequence_sink_score as twin
from tests.reference.sinks.sequence_sink import place_tokens
from tests.tiny import tiny_model, turned_positions

WINDOW = 3


def scores_of(read, weights: LayerWeights, types: list[list[str]]) -> torch.Tensor:
    n = read.shape[1]
    causal, window = weights.is_causal, weights.window
    seen = [seen_by(len(names), is_causal=causal, window=window) for names in types]
    return sink_scores(read, weights, pairs_of(seen, n), places=places_of(types, n))


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
        return [twin.turned(vector, place, waves) for place, vector in enumerate(vectors)]

    def with_bias(name):
        weight, bias = sides[name]
        made = (twin.times(vector, weight) for vector in vectors)
        return [[a + b for a, b in zip(vector, bias, strict=True)] for vector in made]

    queries = at_places(with_bias("query"))
    keys = at_places([twin.times(vector, sides["key"][0]) for vector in vectors])
    biased = {name: bool(getattr(weights, f"{name}_bias").any()) for name in sides}
    has_bias = waves and biased["key"]
    biases = at_places([sides["key"][1]] * len(vectors)) if has_bias else None
    of_bias = at_places([sides["query"][1]] * len(vectors))
    scale = weights.score_scale
    seen = seen_by(len(types), is_causal=weights.is_causal, window=weights.window)
    bare = twin.scores(of_bias, at_places(with_bias("key")), scale)
    return {
        name: twin.taken_apart(queries, keys, biases, scale=scale, seen=seen, tokens=tokens)
        | {"query_bias": twin.excess(bare, seen, tokens) if biased["query"] else None}
        for name, tokens in place_tokens(types).items()
    }


@pytest.mark.parametrize("kind", ["as it is", "turning", "windowed"])
def test_every_head_has_the_scores_of_the_twin(traced, sequences, kind):
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
                for place, values in zip(NAMES, of_head, strict=True):
                    expected = by_place.get(place, dict.fromkeys(SCORES))
                    for name, value in zip(SCORES, values, strict=True):
                        right = expected[name]
                        right = math.nan if right is None else right
                        assert value == pytest.approx(right, rel=1e-9, abs=1e-9, nan_ok=True)


def test_scores_of_these_queries_and_keys_are_those_of_the_models_attention(traced, sequences):
    """The decomposed scores are the input of the softmax: log α differs as the scores do."""
    for layer in traced.layers:
        weights = layer.weights
        for row, sequence in enumerate(sequences):
            n = len(sequence)
            read = layer.attention_input[row, :n].double()
            scores = weights.scores(read).masked_fill(~weights.pairs(n), -torch.inf)
            attention = scores.softmax(dim=-1)
            expected = layer.attention[row, :, :n, :n].double()
            torch.testing.assert_close(attention, expected, rtol=1e-5, atol=1e-6)


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
                    excess = twin.excess(of_head, seen, tokens)
                    numbers = sinks[row, head, NAMES.index(place)]
                    if excess is None:
                        assert numbers.isnan().all()
                        continue
                    assert numbers[0].item() == pytest.approx(excess, rel=1e-9, abs=1e-9)
                    parts = numbers[1:4].nan_to_num().sum().item()
                    assert parts == pytest.approx(excess, rel=1e-9, abs=1e-9)
        has_bias = layer.weights.key_norm is None and bool(layer.weights.key_bias.any())
        assert sinks[..., SCORES.index("bias")].isnan().all() == (not has_bias)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parts_add_up_to_the_excess(traced, sequences, dtype):
    types = [list(sequence.named_types) for sequence in sequences]
    for layer in traced.layers:
        weights = turning(in_dtype(layer.weights, dtype))
        scores = scores_of(layer.attention_input.to(dtype), weights, types)
        excess, *rest = scores.unbind(dim=-1)
        tolerance = 1e-4 if dtype == torch.float32 else 1e-11
        total = rest[0] + rest[1] + rest[2]
        torch.testing.assert_close(excess, total, rtol=tolerance, atol=tolerance, equal_nan=True)


def one_head(keys: torch.Tensor, query: torch.Tensor) -> dict[str, dict[str, float]]:
    """The scores of a head whose keys are given and whose queries are all the same."""
    of_family, (n, width) = tiny_model("bert").layers[0], keys.shape
    planted = {
        name: torch.zeros_like(getattr(of_family, name))
        for name in ("query_weight", "query_bias", "key_weight", "key_bias")
    }
    planted["query_bias"][:, :width] = query
    planted["key_weight"][:, :n, :width] = keys
    weights = replace(of_family, score_scale=1.0, **planted)
    read = torch.eye(n, of_family.key_weight.shape[1], dtype=torch.float64)[None]
    scores = scores_of(read, weights, [["cls", *["other"] * (n - 1)]])[0, 0].tolist()
    return {
        name: dict(zip(SCORES, values, strict=True))
        for name, values in zip(NAMES, scores, strict=True)
    }


def test_a_longer_key_in_the_same_direction_is_all_norm():
    keys = torch.tensor([[4.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    cls = one_head(keys, torch.tensor([2.0, 0.0]))["cls"]
    assert (cls["excess"], cls["norm"], cls["direction"]) == pytest.approx((6, 6, 0))


def test_a_turned_key_of_the_same_length_is_all_direction():
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    cls = one_head(keys, torch.tensor([2.0, 0.0]))["cls"]
    assert (cls["excess"], cls["norm"], cls["direction"]) == pytest.approx((2, 0, 2))


def test_a_shorter_key_whose_direction_makes_up_for_it_has_a_norm_below_0():
    keys = torch.tensor([[0.5, 0.0], [0.0, 3.0], [0.0, 3.0]])
    cls = one_head(keys, torch.tensor([2.0, 0.0]))["cls"]
    assert cls["norm"] < 0 < cls["direction"]
    assert cls["norm"] + cls["direction"] == pytest.approx(cls["excess"]) == pytest.approx(1)


def test_queries_that_are_all_bias_explain_the_whole_excess():
    keys = torch.tensor([[0.5, 1.0], [0.2, 3.0], [0.1, 2.0]])
    for place, scores in one_head(keys, torch.tensor([2.0, -1.0])).items():
        same = pytest.approx(scores["excess"], nan_ok=True)
        assert scores["query_bias"] == same, place


def test_a_bias_that_all_keys_share_changes_no_part(traced, sequences):
    """A bias shared by all keys changes no attention, and so nothing here."""
    types = [list(sequence.named_types) for sequence in sequences]
    layer = traced.layers[0]
    bare = replace(layer.weights, rotary=None)
    scores = scores_of(layer.attention_input, bare, types)
    other = replace(bare, key_bias=bare.key_bias + 5)
    again = scores_of(layer.attention_input, other, types)
    torch.testing.assert_close(scores, again, rtol=1e-9, atol=1e-9, equal_nan=True)
    assert scores[..., SCORES.index("bias")].isnan().all(), "it raises no key above another"
    shifted = replace(layer.weights, key_bias=layer.weights.key_bias + 1)
    raised, turned = (
        scores_of(layer.attention_input, turning(weights), types) for weights in (other, shifted)
    )
    assert not torch.allclose(raised, turned, equal_nan=True), "turned, it does"
    assert not turned[..., SCORES.index("bias")].isnan().all()


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


def test_keys_that_are_normed_to_one_length_differ_by_direction_alone(traced, sequences):
    types = [list(sequence.named_types) for sequence in sequences]
    layer = traced.layers[0]
    scale = torch.ones_like(layer.weights.key_bias[0])
    normed = replace(layer.weights, rotary=None, key_norm=HeadNormWeights(scale, 0.0))
    scores = scores_of(layer.attention_input, normed, types)
    norms = scores[..., SCORES.index("norm")]
    torch.testing.assert_close(norms.nan_to_num(), torch.zeros_like(norms), rtol=0, atol=1e-9)
