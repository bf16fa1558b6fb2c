"""Rank correlation between maps: against loops and SciPy, and in a store by the real passes."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from analysis.measures.mixing.map_similarity import map_similarities
from precompute.passes.mixing import sequence_scope_similarity
from tests.reference.spearman import spearman
from tests.tracing import layers_of


@given(
    st.integers(1, 12).flatmap(
        lambda n: arrays(np.float64, (3, n), elements=st.integers(0, 5).map(float))
    )
)
def test_maps_full_of_ties_compare_as_their_slow_twin_says(maps):
    found = map_similarities(maps)
    np.testing.assert_array_equal(found, found.T)
    for a, b in itertools.product(range(3), repeat=2):
        expected = spearman(maps[a].tolist(), maps[b].tolist())
        if expected is None:
            assert np.isnan(found[a, b])
        else:
            assert found[a, b] == pytest.approx(expected, abs=1e-12)
            assert abs(found[a, b]) <= 1


def test_many_values_some_of_them_equal_compare_as_scipy_says():
    maps = np.random.default_rng(2).gamma(1.0, size=(4, 1600)).round(2)
    expected = np.asarray(spearmanr(maps, axis=1)[0])
    np.testing.assert_allclose(map_similarities(maps), expected, rtol=1e-12)


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_a_layer_without_anything_to_rank_has_no_row(tiny, sequences):
    layer = layers_of(tiny, sequences[:1])[0]
    level = replace(layer.mixing_of(0), maps=layer.mixing_of(0).maps * 0 + 1)
    flat = replace(layer, _mixing=dict.fromkeys(layer._mixing, level))
    assert sequence_scope_similarity(flat).num_rows == 0


@pytest.mark.parametrize("layer", [1, 2, None])
def test_the_matrix_is_square_symmetric_and_1_on_its_diagonal(masked_store, layer, layer_order):
    rows = "from scope_similarity where layer is not distinct from $1"
    frame = masked_store.execute(rows, [layer]).df()
    square = frame.pivot(index="scope_a", columns="scope_b", values="spearman")
    square = square.loc[list(layer_order.scopes), list(layer_order.scopes)].to_numpy()
    np.testing.assert_array_equal(square, square.T)
    assert (square.diagonal() == 1).all()
    assert (frame["n_sequences"] == 3).all()
