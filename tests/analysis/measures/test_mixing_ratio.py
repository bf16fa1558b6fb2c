import numpy as np
import pytest

from analysis.measures.layer_mixing import layer_mixing
from analysis.measures.mixing_ratio import pooled_interval, ratio_moments
from tests.reference import mixing_ratio as reference


def test_moments_follow_their_slow_twin_scope_by_scope(traced_alone):
    for trace in traced_alone:
        ratios = layer_mixing(trace.layers[0]).ratios.numpy()
        found = np.array(ratio_moments(ratios))
        for scope in range(len(ratios)):
            expected = reference.moments(ratios[scope].tolist())
            assert found[:, scope] == pytest.approx(expected, rel=1e-9)


def test_ratios_are_shares(traced_alone):
    for layer in (layer for trace in traced_alone for layer in trace.layers):
        _, _, smallest, largest = ratio_moments(layer_mixing(layer).ratios.numpy())
        assert smallest.min() >= 0
        assert largest.max() <= 1


def test_ratios_of_weights_are_what_attention_leaves_to_others(traced_alone, attention_error):
    for layer in (layer for trace in traced_alone for layer in trace.layers):
        of_weights = layer_mixing(layer).ratios[0]
        kept = layer.attention[0].mean(dim=0).diagonal()
        np.testing.assert_allclose(of_weights, 1 - kept, rtol=1e-9, atol=attention_error)


def test_intervals_follow_the_bootstrap_that_carries_every_token_along():
    generator = np.random.default_rng(4)
    sequences = [generator.random(n) ** 2 for n in generator.integers(0, 30, size=50)]
    sums = np.array([[each.sum()] for each in sequences])
    counts = np.array([[float(len(each))] for each in sequences])
    (low,), (high,) = pooled_interval(sums, counts, seed=0)
    slow = reference.pooled_interval([s.tolist() for s in sequences], resamples=4000, seed=1)
    spread = slow[1] - slow[0]
    assert low == pytest.approx(slow[0], abs=0.15 * spread)
    assert high == pytest.approx(slow[1], abs=0.15 * spread)


def test_long_sequences_weigh_more():
    counts = np.array([[81.0]] + [[1.0]] * 19)
    sums = np.zeros_like(counts)
    sums[0] = 81.0
    (low,), (high,) = pooled_interval(sums, counts, seed=0)
    assert low == 0
    # drawn two or three times the long one alone decides; among 20 equal ones 3 make 0.15
    assert 2 * 81 / (2 * 81 + 18) <= high <= 4 * 81 / (4 * 81 + 16)


def test_a_seed_decides_the_interval_and_one_token_is_enough():
    sums, counts = np.array([[0.25], [0.5], [1.0]]), np.ones((3, 1))
    assert pooled_interval(sums, counts, seed=3) == pooled_interval(sums, counts, seed=3)
    counts[:2] = sums[:2] = 0.0
    (low,), (high,) = pooled_interval(sums, counts, seed=0)
    assert low == high == 1.0


def test_a_type_that_most_sequences_lack_leaves_resamples_without_it_out():
    sums, counts = np.zeros((40, 1)), np.zeros((40, 1))
    sums[0], counts[0] = 3.0, 4.0
    (low,), (high,) = pooled_interval(sums, counts, seed=0)
    assert low == high == pytest.approx(0.75)
