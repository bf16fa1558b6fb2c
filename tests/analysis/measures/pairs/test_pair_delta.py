import numpy as np
import pytest

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.pairs.pair_delta import LEAST_DEGREES, mean_interval, pair_deltas
from analysis.models.trace import LayerTrace
from tests.reference.pairs import pair_delta as reference


@pytest.fixture(scope="module")
def layers(traced_alone) -> list[LayerTrace]:
    """Every layer of every sequence."""
    return [layer for trace in traced_alone for layer in trace.layers]


def test_deltas_follow_the_paper_pair_by_pair(layers):
    for layer in layers:
        order, norms = layer.weights.order, layer_mixing(layer).maps.numpy()
        deltas = pair_deltas(norms, order)
        of_scope = dict(zip(order.scopes, norms.tolist(), strict=True))
        for place, (before, after) in enumerate(order.effects.values()):
            expected = reference.deltas(of_scope[before], of_scope[after])
            np.testing.assert_allclose(deltas[place], expected, atol=1e-14)


@pytest.mark.parametrize("degrees", [1.1, 2, 3.7, 10, 199])
def test_intervals_follow_students_distribution(degrees):
    low, high = mean_interval(np.array([0.25]), np.array([0.3]), np.array([float(degrees)]))
    assert (low[0], high[0]) == pytest.approx(reference.mean_interval(0.25, 0.3, degrees), rel=1e-6)


def test_too_few_degrees_of_freedom_leave_no_interval():
    degrees = np.array([LEAST_DEGREES, LEAST_DEGREES - 1e-9, 1.0, np.nan])
    low, high = mean_interval(np.ones(4), np.ones(4), degrees)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1:], high[1:]]).all()


def test_sequences_of_one_size_have_the_textbook_error_and_degrees():
    """Then the mean is that of the sequences' means, whose spread alone counts."""
    clusters = np.random.default_rng(0).normal(size=(6, 4))
    means = clusters.mean(axis=1)
    error, degrees = reference.clustered(clusters.tolist())
    assert error == pytest.approx(means.std(ddof=1) / np.sqrt(6))
    assert degrees == pytest.approx(5)
