import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.pairs.pair_delta import LEAST_DEGREES, mean_interval, pair_deltas, row_shares
from analysis.models.trace import LayerTrace
from analysis.scopes import ORDERS, POST_NORM, PRE_NORM
from tests.reference.pairs import pair_delta as reference

lengths = st.integers(1, 6)
orders = st.sampled_from(list(ORDERS.values()))


def _norms(length: int, seed: int, scopes: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).gamma(1.0, size=(scopes, length, length)) + 1e-9


@pytest.fixture(scope="module")
def layers(traced_alone) -> list[LayerTrace]:
    """Every layer of every sequence."""
    return [layer for trace in traced_alone for layer in trace.layers]


def test_deltas_follow_the_paper_pair_by_pair(layers):
    for layer in layers:
        order, norms = layer.weights.order, layer_mixing(layer).maps.numpy()
        found = pair_deltas(norms, order)
        of_scope = dict(zip(order.scopes, norms.tolist(), strict=True))
        for place, (before, after) in enumerate(order.effects.values()):
            expected = reference.deltas(of_scope[before], of_scope[after])
            np.testing.assert_allclose(found[place], expected, atol=1e-14)


@given(lengths, st.integers(0, 999))
def test_shares_of_every_row_add_up_to_1(length, seed):
    np.testing.assert_allclose(row_shares(_norms(length, seed)).sum(axis=-1), 1)


@given(lengths, st.integers(0, 999), orders)
def test_what_one_token_gains_others_lose(length, seed, order):
    found = pair_deltas(_norms(length, seed, len(order.scopes)), order)
    assert (np.abs(found) <= 1).all()
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-12)


def test_a_scope_of_another_scale_changes_nothing():
    norms = _norms(5, 0)
    scales = np.random.default_rng(1).gamma(1.0, size=(7, 5, 1)) + 0.1
    found = pair_deltas(norms * scales, POST_NORM)
    np.testing.assert_allclose(found, pair_deltas(norms, POST_NORM), atol=1e-14)


def test_modules_that_only_scale_have_no_effect():
    norms = np.broadcast_to(_norms(4, 2)[:1], (7, 4, 4)) * np.arange(1, 8)[:, None, None]
    np.testing.assert_allclose(pair_deltas(norms, POST_NORM), 0, atol=1e-15)


@pytest.mark.parametrize("order", [POST_NORM, PRE_NORM], ids=lambda each: each.name)
def test_a_share_that_is_doubled_by_one_module_shows_in_that_effect_alone(order):
    norms = np.ones((len(order.scopes), 1, 4))
    norms[order.scopes.index(order.network) :, 0, 0] = 3
    found = dict(zip(order.effects, pair_deltas(norms, order), strict=True))
    assert found.pop("ff")[0].tolist() == pytest.approx([1 / 4, -1 / 12, -1 / 12, -1 / 12])
    assert not np.any(list(found.values()))


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
