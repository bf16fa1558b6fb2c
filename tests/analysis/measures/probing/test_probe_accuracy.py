"""Counting and resampling of cases, against loops, and laws of halves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.probing.probe_accuracy import (
    accuracy_interval,
    best_probe,
    halves,
    right_by_sequence,
)
from tests.reference.probing import probe_accuracy as twin

CASES = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), max_size=30)


@given(CASES)
def test_counts_are_those_of_the_twin(cases):
    cases = sorted(cases, key=lambda case: case[0])
    sequence = np.array([case[0] for case in cases], dtype=np.int64)
    right = np.array([[case[1] for case in cases], [case[2] for case in cases]], dtype=bool)
    present, n, n_right = right_by_sequence(right, sequence)
    assert n_right.shape == (len(present), 2)
    for probe in range(2):
        expected = twin.counts(right[probe].tolist(), sequence.tolist())
        assert present.tolist() == sorted(expected)
        for place, of, hits in zip(present, n, n_right[:, probe], strict=True):
            assert (of, hits) == expected[place]


def test_intervals_are_those_of_the_twin_and_leave_empty_draws_out():
    draw = np.random.default_rng(1)
    n = draw.integers(0, 3, 17)
    right = np.stack([draw.integers(0, n + 1) for _ in range(4)], axis=1).astype(float)
    draws = redraws(np.arange(17), seed=3).weights.copy()
    draws[:5] = 0
    low, high = accuracy_interval(right, n, Redraws(np.arange(17), draws))
    for cell in range(4):
        expected = twin.interval(right[:, cell].tolist(), n.tolist(), draws.tolist())
        assert (low[cell], high[cell]) == pytest.approx(expected)


def test_a_probe_that_is_always_or_never_right_has_no_spread():
    n = np.array([2, 5, 1, 3] * 3)
    right = np.stack([n, 0 * n], axis=1).astype(float)
    low, high = accuracy_interval(right, n, redraws(np.arange(12), seed=0))
    assert low.tolist() == high.tolist() == [1.0, 0.0]


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    draw = np.random.default_rng(5)
    covered = 0
    for trial in range(200):
        n = draw.integers(1, 6, 60)
        right = draw.binomial(n, 0.3).astype(float)[:, None]
        low, high = accuracy_interval(right, n, redraws(np.arange(60), seed=trial))
        covered += bool(low[0] <= 0.3 <= high[0])
    assert 180 <= covered <= 198


def test_sequences_without_a_case_are_no_units():
    n = np.array([1] * 9 + [0] * 30)
    drawn = redraws(np.arange(39), seed=0)
    right = n[:, None].astype(float)
    assert np.isnan(accuracy_interval(right, n, drawn)).all()
    n[9] = right[9] = 1
    assert np.array(accuracy_interval(right, n, drawn)).ravel().tolist() == [1, 1]


@settings(max_examples=30)
@given(st.integers(1, 50), st.integers(0, 5))
def test_halves_are_halves_and_the_seed_decides(n_sequences, seed):
    first = halves(n_sequences, seed=seed)
    assert first.sum() == (n_sequences + 1) // 2
    assert (first == halves(n_sequences, seed=seed)).all()


def test_another_seed_makes_other_halves():
    assert (halves(50, seed=0) != halves(50, seed=1)).any()


def test_the_best_is_chosen_where_it_is_to_be_chosen():
    right = np.array([[3, 1, 3], [0, 9, 0], [1, 0, 1]], dtype=float)
    for chosen in ([True, False, True], [True] * 3, [False, True, False]):
        best = best_probe(right, np.array(chosen))
        assert best == twin.best(right.tolist(), chosen)
    assert best_probe(right, np.array([True, False, True])) == 0
