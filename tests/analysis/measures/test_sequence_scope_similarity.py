import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from analysis.measures.layer_mixing import layer_mixing
from analysis.measures.sequence_scope_similarity import scope_similarities
from analysis.scopes import SCOPES
from tests.reference import sequence_scope_similarity as reference

MAPS = st.integers(1, 4).flatmap(
    lambda n: arrays(np.float64, (3, n, n), elements=st.integers(0, 5).map(float))
)


@given(MAPS)
def test_maps_full_of_ties_compare_as_their_slow_twin_says(maps):
    found = scope_similarities(maps)
    for a, b in itertools.product(range(3), repeat=2):
        expected = reference.scope_similarity(maps[a].tolist(), maps[b].tolist())
        if expected is None:
            assert np.isnan(found[a, b])
        else:
            assert found[a, b] == pytest.approx(expected, abs=1e-12)


@given(MAPS)
def test_similarity_is_symmetric_and_1_with_itself(maps):
    found = scope_similarities(maps)
    np.testing.assert_array_equal(found, found.T)
    itself = found.diagonal()
    np.testing.assert_allclose(itself[~np.isnan(itself)], 1, rtol=1e-12)
    assert (np.abs(found[~np.isnan(found)]) <= 1).all()


def test_a_monotone_change_of_a_map_changes_no_similarity():
    maps = np.random.default_rng(0).gamma(2.0, size=(3, 6, 6))
    warped = np.stack([maps[0], np.log(maps[1]), maps[2] ** 3])
    np.testing.assert_array_equal(scope_similarities(warped), scope_similarities(maps))


def test_many_values_some_of_them_equal_compare_as_scipy_says():
    maps = np.random.default_rng(2).gamma(1.0, size=(4, 40, 40)).round(2)
    expected = np.asarray(spearmanr(maps.reshape(4, -1), axis=1)[0])
    np.testing.assert_allclose(scope_similarities(maps), expected, rtol=1e-12)


def test_a_map_turned_upside_down_is_as_unlike_as_can_be():
    maps = np.random.default_rng(1).random((1, 5, 5))
    assert scope_similarities(np.concatenate([maps, -maps]))[0, 1] == pytest.approx(-1)


def test_a_sequence_of_one_token_has_nothing_to_rank():
    assert np.isnan(scope_similarities(np.ones((2, 1, 1)))).all()


def test_every_scope_of_a_model_compares_as_its_slow_twin_says(traced_alone):
    maps = layer_mixing(traced_alone[1].layers[1]).maps.numpy()
    found = scope_similarities(maps)
    for a, b in itertools.combinations(range(len(SCOPES)), 2):
        expected = reference.scope_similarity(maps[a].tolist(), maps[b].tolist())
        assert found[a, b] == pytest.approx(expected, abs=1e-12)
