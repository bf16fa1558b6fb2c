"""Weights that rest on places against loops over pairs, planted sinks, and laws."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.norms.vector_norms import value_norms
from analysis.measures.sinks.sequence_sink import sink_weights
from analysis.sinks import WEIGHTS
from tests.analysis.measures.sinks.places import NAMES, pairs_of, places_of, seen_by
from tests.precompute.corpora.tiny import unhurried
from tests.reference.sinks import sequence_sink as twin
from tests.reference.transformed_vectors import norm, vectors

TYPES = ("cls", "other", "comma_period", "sep")


def sinks_of(attention, norms, types, *, is_causal=False) -> dict[str, dict[str, float]]:
    """Every quantity of one head and text, by place."""
    n = len(types)
    weights = sink_weights(
        torch.as_tensor(attention, dtype=torch.float64)[None, None],
        torch.as_tensor(norms, dtype=torch.float64)[None, None],
        pairs_of([seen_by(n, is_causal=is_causal)], n),
        places=places_of([types], n),
    )[0, 0]
    return {
        name: dict(zip(WEIGHTS, values, strict=True))
        for name, values in zip(NAMES, weights.tolist(), strict=True)
    }


def assert_same(found: Mapping[str, float], expected: Mapping[str, float | None]) -> None:
    for name, value in expected.items():
        if value is None:
            assert math.isnan(found[name]), name
        else:
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_every_head_gives_each_place_what_the_twin_says(traced, sequences):
    n = traced.is_token.shape[1]
    types = [list(text.named_types) for text in sequences]
    for layer in traced.layers:
        weights = layer.weights
        seen = [seen_by(len(names), is_causal=weights.is_causal) for names in types]
        norms = value_norms(layer.values, weights.output_factor)
        places, is_pair = places_of(types, n), pairs_of(seen, n)
        sinks = sink_weights(layer.attention, norms, is_pair, places=places).tolist()
        for row, sequence in enumerate(sequences):
            by_place = twin.place_tokens(list(sequence.named_types))
            inputs = layer.attention_input[row, : len(sequence)].double().tolist()
            for head, of_head in enumerate(sinks[row]):
                made = vectors(
                    inputs,
                    weights.value_weight[head].double().tolist(),
                    weights.value_bias[head].double().tolist(),
                    weights.output_weight[head].double().tolist(),
                )
                attention = layer.attention[row, head, : len(sequence), : len(sequence)]
                for place, values in zip(NAMES, of_head, strict=True):
                    numbers: dict[str, float] = dict(zip(WEIGHTS, values, strict=True))
                    if place not in by_place:
                        assert all(math.isnan(value) for value in values)
                        continue
                    lengths = [norm(vector) for vector in made]
                    expected = twin.of_place(
                        attention.tolist(), lengths, seen[row], by_place[place]
                    )
                    assert_same(numbers, expected)


def test_a_planted_sink_holds_what_was_planted_and_nothing_arrives_from_it():
    n, share = 6, 0.7
    attention = np.full((n, n), (1 - share) / (n - 1))
    attention[:, 0] = share
    sinks = sinks_of(attention, [0.0, *[2.0] * (n - 1)], ["cls", *["other"] * (n - 1)])
    cls = sinks["cls"]
    assert cls == sinks["first"]
    assert cls["attention"] == pytest.approx(share)
    assert cls["even"] == pytest.approx(1 / n)
    assert cls["neighbour"] == pytest.approx((1 - share) / (n - 1))
    assert (cls["norm_share"], cls["value_norm"], cls["relative_norm"]) == (0, 0, 0)
    assert sinks["first_content"]["norm_share"] == pytest.approx(1 / (n - 1))


def test_a_causal_head_that_looks_at_everything_alike_rests_nowhere():
    n = 5
    rows = np.tri(n) / np.arange(1, n + 1)[:, None]
    types = ["other", "other", "comma_period", "other", "other"]
    sinks = sinks_of(rows, [1.0] * n, types, is_causal=True)
    harmonic = sum(1 / m for m in range(1, n + 1)) / n
    assert sinks["first"]["attention"] == pytest.approx(harmonic)
    assert sinks["comma_period"]["attention"] == pytest.approx((1 / 3 + 1 / 4 + 1 / 5) / 3)
    for name in ("first", "comma_period", "other"):
        assert sinks[name]["attention"] == pytest.approx(sinks[name]["even"])
        assert sinks[name]["norm_share"] == pytest.approx(sinks[name]["even"])


def test_the_neighbour_of_the_last_token_stands_before_it():
    attention = np.eye(3)[[1, 1, 1]]  # all attention is on the token in the middle
    sinks = sinks_of(attention, [1.0] * 3, ["cls", "other", "sep"])
    assert sinks["sep"]["neighbour"] == sinks["cls"]["neighbour"] == 1
    assert sinks["sep"]["attention"] == sinks["cls"]["attention"] == 0


def test_a_text_of_one_token_has_nothing_beside_it():
    sink = sinks_of([[1.0]], [3.0], ["cls"])["cls"]
    assert (sink["attention"], sink["even"], sink["value_norm"]) == (1, 1, 3)
    assert math.isnan(sink["neighbour"])
    assert math.isnan(sink["relative_norm"])


@given(
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=9),
    st.integers(0, 2**31),
    st.booleans(),
)
@unhurried()
def test_types_share_all_attention_and_shares_follow_norms(types, seed, is_causal):
    n, generator = len(types), np.random.default_rng(seed)
    scores = torch.from_numpy(generator.normal(0, 4, (n, n)))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
    attention, lengths = scores.softmax(dim=-1), generator.uniform(0.1, 3, n)
    sinks = sinks_of(attention, lengths, types, is_causal=is_causal)
    there = [name for name in TYPES if name in types]
    for name in ("attention", "even", "norm_share") if not is_causal else ():
        assert sum(sinks[place][name] for place in there) == pytest.approx(1)
    for name in there:
        assert all(-1e-12 <= sinks[name][weight] <= 1 + 1e-12 for weight in ("attention", "even"))
    stretched = sinks_of(attention, lengths * 5, types, is_causal=is_causal)
    alike = sinks_of(attention, np.ones(n), types, is_causal=is_causal)
    for name in there:
        same = pytest.approx(sinks[name]["norm_share"])
        assert stretched[name]["norm_share"] == same
        assert stretched[name]["relative_norm"] == pytest.approx(
            sinks[name]["relative_norm"], nan_ok=True
        )
        assert alike[name]["norm_share"] == pytest.approx(alike[name]["attention"])
