import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.measures.norms.attention_norm_correlation import (
    LEAST_BINS,
    can_be_ranked,
    histogram_spearman,
)
from tests.reference.norms import attention_norm_correlation as reference

CELLS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40)


def _counted(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells, counts = np.unique(np.array(pairs), axis=0, return_counts=True)
    return cells[:, 0], cells[:, 1], counts


@given(CELLS)
def test_counting_equal_pairs_together_changes_nothing(pairs):
    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    correlation = histogram_spearman(*_counted(pairs))
    expected = reference.spearman(first, second)
    assert correlation == (expected if expected is None else pytest.approx(expected, abs=1e-12))


@given(CELLS, st.integers(1, 10**12))
def test_seeing_every_pair_often_changes_nothing(pairs, times):
    first, second, counts = _counted(pairs)
    once, often = (histogram_spearman(first, second, counts * n) for n in (1, times))
    assert once == (pytest.approx(often, abs=1e-9) if once is not None else often)


def test_it_agrees_with_scipy_on_many_pairs():
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 30, size=(5000, 2))
    pairs[:, 1] += pairs[:, 0] // 2
    expected = spearmanr(pairs[:, 0], pairs[:, 1])[0]
    assert histogram_spearman(*_counted(pairs.tolist())) == pytest.approx(expected, abs=1e-12)


def test_evenly_filled_bins_count_each_and_a_crowded_one_hides_the_rest():
    even = np.ones(LEAST_BINS, dtype=np.int64)
    assert can_be_ranked(np.arange(LEAST_BINS), even)
    assert not can_be_ranked(np.arange(LEAST_BINS - 1), even[1:])
    crowded = np.array([1000, *even])
    assert not can_be_ranked(np.arange(len(crowded)), crowded)
