"""Counting and resampling of cases, and laws of halves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.probing.probe_accuracy import (
    accuracy_interval,
    best_probe,
    halves,
    parts,
    right_by_sequence,
)


def slow_interval(
    right: list[float], n: list[int], draws: list[list[float]]
) -> tuple[float, float]:
    """efron-1979, section 2: ends of the central 95% of Σ right / Σ n over the draws."""
    ratios = []
    for drawn in draws:
        cases = sum(times * n_cases for times, n_cases in zip(drawn, n, strict=True))
        if cases:
            hits = sum(times * hit for times, hit in zip(drawn, right, strict=True))
            ratios.append(hits / cases)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


CASES = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), max_size=30)


@given(CASES)
def test_cases_are_counted_by_sequence(cases):
    cases = sorted(cases, key=lambda case: case[0])
    sequence = np.array([case[0] for case in cases], dtype=np.int64)
    right = np.array([[case[1] for case in cases], [case[2] for case in cases]], dtype=bool)
    present, n, n_right = right_by_sequence(right, sequence)
    of = {seq: [case[1:] for case in cases if case[0] == seq] for seq in {c[0] for c in cases}}
    assert present.tolist() == sorted(of)
    assert n.tolist() == [len(of[seq]) for seq in sorted(of)]
    assert n_right.shape == (len(of), 2)
    assert n_right.tolist() == [
        [sum(side) for side in zip(*of[seq], strict=True)] for seq in sorted(of)
    ]


def test_intervals_follow_their_definition_and_leave_empty_draws_out():
    draw = np.random.default_rng(1)
    n = draw.integers(0, 3, 17)
    right = np.stack([draw.integers(0, n + 1) for _ in range(4)], axis=1).astype(float)
    draws = redraws(np.arange(17), seed=3).weights.copy()
    draws[:5] = 0
    low, high = accuracy_interval(right, n, Redraws(np.arange(17), draws))
    for cell in range(4):
        expected = slow_interval(right[:, cell].tolist(), n.tolist(), draws.tolist())
        assert (low[cell], high[cell]) == pytest.approx(expected)


def test_a_probe_that_is_always_or_never_right_has_no_spread():
    n = np.array([2, 5, 1, 3] * 3)
    right = np.stack([n, 0 * n], axis=1).astype(float)
    low, high = accuracy_interval(right, n, redraws(np.arange(12), seed=0))
    assert low.tolist() == high.tolist() == [1.0, 0.0]


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


def test_another_seed_makes_other_halves_and_each_is_scored_on_the_other():
    assert (halves(50, seed=0) != halves(50, seed=1)).any()
    both = parts(9, seed=3)
    assert list(both) == ["all", "first", "second"]
    assert np.array(both["all"]).all()
    np.testing.assert_array_equal(both["first"][0], halves(9, seed=3))
    np.testing.assert_array_equal(both["first"][0], ~both["first"][1])
    np.testing.assert_array_equal(both["first"], both["second"][::-1])


def test_the_best_is_chosen_where_it_is_to_be_chosen():
    right = np.array([[3, 1, 3], [0, 9, 0], [1, 0, 1]], dtype=float)
    for chosen in ([True, False, True], [True] * 3, [False, True, False]):
        totals = right[np.array(chosen)].sum(axis=0).tolist()
        assert best_probe(right, np.array(chosen)) == totals.index(max(totals))
    assert best_probe(right, np.array([True, False, True])) == 0
