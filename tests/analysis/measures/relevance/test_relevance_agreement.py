"""Rank agreement of maps, against loops over values, scipy's own, by hand, and as a law."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from analysis.measures.relevance.relevance_agreement import relevance_agreement
from tests.precompute.corpora.tiny import unhurried
from tests.reference.relevance import relevance_agreement as twin

MAPS = st.integers(1, 7).flatmap(
    lambda n: arrays(np.float64, (4, n), elements=st.integers(0, 4).map(float))
)


@given(MAPS)
@unhurried()
def test_maps_full_of_ties_agree_as_the_twin_says(maps):
    agreement = relevance_agreement(maps)
    for a, b in itertools.product(range(4), repeat=2):
        expected = twin.spearman(maps[a].tolist(), maps[b].tolist())
        assert agreement[a, b] == pytest.approx(
            np.nan if expected is None else expected, nan_ok=True
        )


def test_maps_without_ties_agree_as_scipy_says():
    maps = np.random.default_rng(0).random((5, 60))
    np.testing.assert_allclose(relevance_agreement(maps), np.asarray(spearmanr(maps, axis=1)[0]))


def test_an_even_map_agrees_with_none_and_not_with_itself():
    agreement = relevance_agreement(np.array([[0.25, 0.25, 0.25], [0.1, 0.2, 0.7]]))
    assert np.isnan(agreement).tolist() == [[True, True], [True, False]]
    assert np.isnan(relevance_agreement(np.full((2, 3), 0.5))).all()
