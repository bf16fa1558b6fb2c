import numpy as np
import pytest

from analysis.comparison.differences import means
from analysis.measures.norms.token_type_mixing import sequence_means
from tests.reference.norms import token_type_mixing as reference


def _drawn(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    return generator.gamma(2.0, size=(n, 2)), generator.random((n, 2)) < [0.5, 1.0]


def test_a_sequence_without_the_type_counts_for_nothing():
    values = np.array([[2.0], [4.0], [100.0]])
    present = np.array([[True], [True], [False]])
    assert sequence_means(values, present, np.ones((1, 3))).tolist() == [[3.0]]


def test_a_sequence_that_is_drawn_once_and_alone_is_the_mean():
    both = np.array([[2.0], [4.0]]), np.ones((2, 1), dtype=bool)
    assert sequence_means(*both, np.array([[1.0, 0.0], [1.0, 3.0]])).tolist() == [[2.0], [3.5]]


def test_a_cell_that_is_never_present_has_no_mean():
    absent = np.zeros((3, 1), dtype=bool)
    assert np.isnan(sequence_means(np.ones((3, 1)), absent, np.ones((1, 3)))).all()
    found = means(np.full((3, 1), np.nan), seed=0)
    assert np.isnan([found.mean, found.low, found.high]).all()


def test_intervals_follow_the_bootstrap_drawn_sequence_by_sequence():
    values, present = _drawn()
    _, low, high, _ = means(np.where(present, values, np.nan), seed=0)
    for cell in range(2):
        there = [v if p else None for v, p in zip(values[:, cell], present[:, cell], strict=True)]
        slow = reference.bootstrap_interval(there, resamples=4000, seed=1)
        spread = slow[1] - slow[0]
        assert low[cell] == pytest.approx(slow[0], abs=0.15 * spread)
        assert high[cell] == pytest.approx(slow[1], abs=0.15 * spread)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(5)
    samples = generator.normal(1.0, 1.0, size=(50, 400))
    _, low, high, _ = means(samples, seed=2)
    covered = ((low <= 1.0) & (high >= 1.0)).mean()
    assert 0.90 <= covered <= 0.98


def test_sequences_that_all_agree_leave_no_doubt():
    _, low, high, _ = means(np.full((10, 1), 2.5), seed=0)
    assert low == high == pytest.approx(2.5)
