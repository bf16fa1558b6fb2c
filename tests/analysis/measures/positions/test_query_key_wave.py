import pytest
import torch

from analysis.measures.positions.query_key_wave import (
    cross_correlation,
    cross_covariance,
    query_key_waves,
)
from analysis.measures.positions.relative_position_profile import diagonal_sums
from tests.reference.positions import query_key_wave as reference


def test_waves_covariances_and_correlations_follow_their_slow_twin(traced_alone):
    layer = traced_alone[0].layers[1]
    inputs, factors = layer.attention_input[0], layer.weights.query_key
    queries, keys = query_key_waves(inputs, factors)
    covariances, correlations = cross_covariance(queries, keys), cross_correlation(queries, keys)
    n = len(inputs)
    for head in range(len(queries)):
        for j in range(queries.shape[-1]):
            query = reference.wave(inputs.tolist(), factors.query[head, :, j].tolist())
            key = reference.wave(inputs.tolist(), factors.key[head, :, j].tolist())
            assert queries[head, :, j].tolist() == pytest.approx(query, rel=1e-9, abs=1e-9)
            assert keys[head, :, j].tolist() == pytest.approx(key, rel=1e-9, abs=1e-9)
            for t in range(1 - n, n):
                expected = reference.cross_covariance(query, key, t)
                found = covariances[head, t + n - 1, j].item()
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
                expected = reference.cross_correlation(query, key, t)
                found = correlations[head, t + n - 1, j].item()
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


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
