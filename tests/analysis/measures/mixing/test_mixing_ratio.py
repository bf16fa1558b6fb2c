import numpy as np
import pytest

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.mixture import (
    mean_over_layers,
    pooled_interval,
    ratio_moments,
    ratios_of_layer,
)
from tests.reference.mixing import mixing_ratio as reference


def test_moments_follow_their_slow_twin_scope_by_scope(traced_alone):
    for trace in traced_alone:
        ratios = layer_mixing(trace.layers[0]).ratios.numpy()
        moments = np.array(ratio_moments(ratios))
        for scope in range(len(ratios)):
            expected = reference.moments(ratios[scope].tolist())
            assert moments[:, scope] == pytest.approx(expected, rel=1e-9)


def _drawn(n_sequences: int) -> Redraws:
    return redraws(np.arange(n_sequences), seed=0)


def test_half_the_weights_and_half_the_token_leave_half_to_others(traced_alone, attention_error):
    for layer in (layer for trace in traced_alone for layer in trace.layers):
        ratios = layer_mixing(layer).ratios.numpy()
        of_layer = ratios_of_layer(ratios)
        expected = reference.with_residual(layer.attention[0].mean(dim=0).tolist())
        np.testing.assert_allclose(of_layer[1], expected, rtol=1e-9, atol=attention_error)
        np.testing.assert_array_equal(np.delete(of_layer, 1, axis=0), ratios)


def test_a_token_has_the_mean_of_its_layers(traced_alone):
    for trace in traced_alone:
        layers = [ratios_of_layer(layer_mixing(layer).ratios.numpy()) for layer in trace.layers]
        means = mean_over_layers(layers)
        for place, of_tokens in enumerate(means):
            expected = reference.mean_over_layers([ratios[place].tolist() for ratios in layers])
            assert of_tokens == pytest.approx(expected, rel=1e-12)


def test_intervals_follow_the_bootstrap_that_carries_every_token_along():
    generator = np.random.default_rng(4)
    sequences = [generator.random(n) ** 2 for n in generator.integers(0, 30, size=50)]
    sums = np.array([[ratios.sum()] for ratios in sequences])
    counts = np.array([[float(len(ratios))] for ratios in sequences])
    (low,), (high,) = pooled_interval(sums, counts, _drawn(50))
    slow = reference.pooled_interval([s.tolist() for s in sequences], resamples=4000, seed=1)
    spread = slow[1] - slow[0]
    assert low == pytest.approx(slow[0], abs=0.15 * spread)
    assert high == pytest.approx(slow[1], abs=0.15 * spread)


def test_long_sequences_weigh_more():
    """One of 99 tokens at 0.9 among eleven of one token at 0: 90 / 110, not 0.9 / 12."""
    sums, counts = np.zeros((12, 1)), np.ones((12, 1))
    sums[0], counts[0] = 90.0, 99.0
    drawn = _drawn(12)
    (low,), (high,) = pooled_interval(sums, counts, drawn)
    assert low == 0
    thrice = np.full(12, 9 / 11)
    thrice[0] = 3
    assert high == pytest.approx(thrice @ sums[:, 0] / (thrice @ counts[:, 0]), rel=0.01)


def test_a_type_that_most_sequences_lack_leaves_resamples_without_it_out():
    sums, counts = np.zeros((400, 1)), np.zeros((400, 1))
    sums[:10], counts[:10] = 3.0, 4.0
    (low,), (high,) = pooled_interval(sums, counts, _drawn(400))
    assert low == high == pytest.approx(0.75)


def test_a_type_of_fewer_than_ten_sequences_has_no_interval():
    sums, counts = np.zeros((40, 1)), np.zeros((40, 1))
    sums[:9], counts[:9] = 3.0, 4.0
    assert np.isnan(pooled_interval(sums, counts, _drawn(40))).all()
