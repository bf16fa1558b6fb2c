"""Waves of queries and keys: lags, phases and amplitudes, and as they are stored."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.positions.position_spectrum import frequencies, wave_length
from analysis.measures.positions.query_key_form import query_key_factors, query_key_rotation
from analysis.measures.positions.query_key_wave import (
    cross_correlation,
    cross_covariance,
    phase_amplitudes,
    query_key_waves,
)
from analysis.measures.positions.relative_position_profile import diagonal_sums
from analysis.models.trace import LayerTrace
from analysis.statistics.positions.scores import QUERY_KEY_PHASE, QUERY_KEY_WAVE
from tests.statistics.positions.slow_twins import amplitude, dense_form, nearest_rotation
from tests.statistics.positions.turned_layers import changed_layers, stored
from tests.tiny import added_positions
from tests.tracing import rows_of_table


def slow_cross_covariance(query: list[float], key: list[float], offset: int) -> float:
    """Equation 11."""
    n = len(query)
    if offset >= 0:
        return sum(query[i] * key[i + offset] for i in range(n - offset))
    return sum(query[i - offset] * key[i] for i in range(n + offset))


def slow_cross_correlation(query: list[float], key: list[float], offset: int) -> float:
    """Equation 12."""
    n = len(query)
    every = [slow_cross_covariance(query, key, t) for t in range(1 - n, n)]
    lengths = math.dist(query, [0] * n) * math.dist(key, [0] * n)
    return (slow_cross_covariance(query, key, offset) - sum(every) / len(every)) / lengths


def test_waves_covariances_and_correlations_follow_their_slow_twin(traced_alone):
    layer = traced_alone[0].layers[1]
    inputs, factors = layer.attention_input[0], layer.weights.query_key
    affine = torch.nn.functional.pad(inputs, (0, 1), value=1.0)
    sides = query_key_waves(inputs, factors)
    for side, directions in zip(sides, (factors.query, factors.key), strict=True):
        torch.testing.assert_close(side, affine @ directions)
    covariances, correlations = cross_covariance(*sides), cross_correlation(*sides)
    n = len(inputs)
    for query, key, covariance, correlation in zip(
        *(of.mT.flatten(0, 1).tolist() for of in (*sides, covariances, correlations)), strict=True
    ):
        slow = [slow_cross_covariance(query, key, t) for t in range(1 - n, n)]
        assert covariance == pytest.approx(slow, rel=1e-9, abs=1e-9)
        slow = [slow_cross_correlation(query, key, t) for t in range(1 - n, n)]
        assert correlation == pytest.approx(slow, rel=1e-9, abs=1e-9)


@added_positions
def test_queries_and_keys_make_the_scores_and_their_diagonals(traced_alone):
    for trace in traced_alone:
        for layer in trace.layers:
            weights, inputs = layer.weights, layer.attention_input[0]
            queries, keys = query_key_waves(inputs, weights.query_key)
            scores = (queries * weights.query_key.values[:, None]) @ keys.mT
            raw_queries = inputs @ weights.query_weight + weights.query_bias[:, None]
            raw_keys = inputs @ weights.key_weight + weights.key_bias[:, None]
            torch.testing.assert_close(scores, raw_queries @ raw_keys.mT)
            weighted = cross_covariance(queries, keys) * weights.query_key.values[:, None]
            torch.testing.assert_close(weighted.sum(dim=-1), diagonal_sums(scores))


def test_a_direction_without_queries_has_no_correlation():
    correlation = cross_correlation(torch.zeros(5, 1), torch.ones(5, 1))
    assert correlation.isnan().all()


def test_both_sides_of_a_plane_have_one_amplitude(traced_alone):
    """|FT([X 1] w)| and |FT([X 1] T w)|, T being a whole matrix."""
    layer = traced_alone[0].layers[1]
    inputs = layer.attention_input[0]
    affine = np.hstack([inputs.numpy(), np.ones((len(inputs), 1))])
    matrices = [nearest_rotation(*factors[1:]) for factors in dense_form(layer.weights)]
    for rotation, matrix in zip(layer.weights.query_key_rotation, matrices, strict=True):
        amplitudes = phase_amplitudes(inputs, rotation)
        waves = (rotation.basis.to(rotation.vectors.dtype) @ rotation.vectors).numpy()
        for plane, vector in enumerate(waves.T):
            for side in (affine @ vector, affine @ (matrix @ vector)):
                slow = [amplitude(side.tolist(), k) for k in range(amplitudes.shape[1])]
                assert amplitudes[plane].tolist() == pytest.approx(slow, rel=1e-7, abs=1e-7)


def test_a_head_that_compares_nothing_has_every_frequency_and_no_plane():
    nothing = torch.zeros(2, 1, 4, 2, dtype=torch.float64)
    bias = torch.zeros(1, 2, dtype=torch.float64)
    rotation = query_key_rotation(query_key_factors(nothing[0], bias, nothing[1], bias))[0]
    for n_tokens in (8, 9):
        amplitudes = phase_amplitudes(torch.ones(n_tokens, 4, dtype=torch.float64), rotation)
        assert amplitudes.shape == (0, len(frequencies(n_tokens)))


@pytest.fixture
def alone(position_run, position_traces) -> dict[int, tuple[LayerTrace, ...]]:
    """The layers of every exemplar, each traced by itself."""
    return {seq: position_traces[seq].layers for seq in sorted(position_run[1].exemplars)}


def test_values_and_phases_are_those_of_the_head(position_store, alone):
    weights = next(iter(alone.values()))[1].weights
    of_head = "where layer = 2 and head = 3 order by all"
    values = position_store.execute(f"from query_key_singular_value {of_head}").df()
    assert values["value"].tolist() == weights.query_key.values[2].tolist()
    assert values["rank"].tolist() == list(range(1, len(values) + 1))
    phases = position_store.execute(f"from query_key_rotation {of_head}").df()
    assert phases["phase"].tolist() == weights.query_key_rotation[2].phases.tolist()


def test_amplitudes_are_means_over_the_longest_exemplars_on_both_sides(position_store, alone):
    lengths = [wave_length(layers[1].input.shape[1]) for layers in alone.values()]
    assert max(lengths) >= 16
    rotation = next(iter(alone.values()))[1].weights.query_key_rotation[2]
    longest = [
        phase_amplitudes(layers[1].attention_input[0, : max(lengths)], rotation)
        for layers, length in zip(alone.values(), lengths, strict=True)
        if length == max(lengths)
    ]
    expected = torch.stack(longest).mean(dim=0).numpy()
    order = np.argsort(rotation.phases.numpy(), kind="stable")
    view = position_store.execute("from query_key_phase where layer = 2 and head = 3").df()
    assert set(view["side"]) == {"query", "key"}
    for _, side in view.groupby("side"):
        amplitudes = side.pivot(index="phase", columns="frequency", values="amplitude")
        assert list(amplitudes.columns) == list(frequencies(max(lengths)))
        np.testing.assert_allclose(amplitudes, expected[order], rtol=1e-4, atol=1e-5)


def test_waves_and_their_correlations_are_those_of_the_first_directions(position_store, alone):
    """In a causal model correlations are without later keys."""
    of_text = "from query_key_wave where layer = 1 and head = 2 and seq = ? order by rank"
    for seq, layers in alone.items():
        layer = layers[0]
        sides = query_key_waves(layer.attention_input[0], layer.weights.query_key)
        rows = position_store.execute(of_text, [seq]).df()
        for name, expected in zip(("query", "key"), sides, strict=True):
            waves = np.stack(rows[name].tolist(), axis=1)
            np.testing.assert_allclose(waves, expected[1], rtol=1e-4, atol=1e-5)
        correlation = cross_correlation(*(side[1] for side in sides)).numpy()
        seen = len(correlation) // 2 + 1 if layer.weights.is_causal else len(correlation)
        found = np.stack(rows["correlation"].tolist(), axis=1)
        np.testing.assert_allclose(found, correlation[:seen], atol=1e-5)


def test_a_short_text_has_waves_and_no_spectrum(tiny, sequences):
    kept = frozenset(sequence.index for sequence in sequences)
    with_waves, with_phases = (
        set(rows_of_table(table, tiny, sequences, exemplars=kept)["seq"].to_pylist())
        for table in (QUERY_KEY_WAVE, QUERY_KEY_PHASE)
    )
    assert with_waves == kept
    assert with_phases == {s.index for s in sequences if len(s) >= 16}
    assert with_phases < kept


def test_directions_that_compare_nothing_have_no_wave(tiny, sequences):
    only = max(sequences, key=len)
    width = tiny.layers[0].query_weight.shape[-1]

    def blinded(weights):
        parts = {}
        for name in ("query_weight", "query_bias"):
            parts[name] = getattr(weights, name).clone()
            parts[name][1, ..., 1:] = 0
            parts[name][2] = 0
        return replace(weights, **parts)

    layers = changed_layers(tiny, [only], blinded, exemplars=frozenset({only.index}))[:1]
    waves = stored(QUERY_KEY_WAVE, layers).groupby("head")["rank"].agg(list)
    assert waves.to_dict() == {1: list(range(1, width + 1)), 2: [1]}
    rotations = layers[0].weights.query_key_rotation
    assert [len(rotation.phases) for rotation in rotations[1:]] == [2, 0]
    phases = stored(QUERY_KEY_PHASE, layers).groupby("head").size()
    assert phases.to_dict() == {head: len(rotations[head - 1].phases) for head in (1, 2)}
