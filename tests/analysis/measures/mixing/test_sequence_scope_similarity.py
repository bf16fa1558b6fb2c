import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.map_similarity import scope_similarities
from tests.reference.mixing import sequence_scope_similarity as reference

MAPS = st.integers(1, 4).flatmap(
    lambda n: arrays(np.float64, (3, n, n), elements=st.integers(0, 5).map(float))
)


def similarities(maps: np.ndarray) -> np.ndarray:
    """Similarities of maps without masked keys."""
    return scope_similarities(maps, np.ones(maps.shape[1:], dtype=bool))


@given(MAPS)
def test_maps_full_of_ties_compare_as_their_slow_twin_says(maps):
    found = similarities(maps)
    for a, b in itertools.product(range(3), repeat=2):
        expected = reference.scope_similarity(maps[a].tolist(), maps[b].tolist())
        if expected is None:
            assert np.isnan(found[a, b])
        else:
            assert found[a, b] == pytest.approx(expected, abs=1e-12)


@given(MAPS)
def test_similarity_is_symmetric_and_1_with_itself(maps):
    found = similarities(maps)
    np.testing.assert_array_equal(found, found.T)
    itself = found.diagonal()
    np.testing.assert_allclose(itself[~np.isnan(itself)], 1, rtol=1e-12)
    assert (np.abs(found[~np.isnan(found)]) <= 1).all()


def test_many_values_some_of_them_equal_compare_as_scipy_says():
    maps = np.random.default_rng(2).gamma(1.0, size=(4, 40, 40)).round(2)
    expected = np.asarray(spearmanr(maps.reshape(4, -1), axis=1)[0])
    np.testing.assert_allclose(similarities(maps), expected, rtol=1e-12)


def test_a_sequence_of_one_token_has_nothing_to_rank():
    assert np.isnan(similarities(np.ones((2, 1, 1)))).all()


def test_every_scope_of_a_model_compares_as_its_slow_twin_says(traced_alone):
    layer = traced_alone[1].layers[1]
    maps = layer_mixing(layer).maps.numpy()
    found = scope_similarities(maps, layer.weights.pairs(maps.shape[-1]).numpy())
    for a, b in itertools.combinations(range(len(layer.weights.order.scopes)), 2):
        expected = reference.scope_similarity(
            maps[a].tolist(), maps[b].tolist(), causal=layer.weights.is_causal
        )
        assert found[a, b] == pytest.approx(expected, abs=1e-12)
