"""Differences against slow twins; planted differences are found, and no others."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from analysis.comparison import differences as module
from analysis.comparison.differences import (
    corrected,
    means,
    paired_differences,
    unpaired_differences,
)
from analysis.measures.bootstrap import LEAST_UNITS, redraws

CELLS, PLANTED = 120, 20


def drawn(seed: int, shape: tuple[int, ...] = (30, CELLS)) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def slow_interval(change: np.ndarray, seed: int) -> tuple[float, float]:
    """Every resample written out: each sequence as often as it was drawn."""
    resampled = [
        np.repeat(change, weights.astype(int)).mean()
        for weights in redraws(np.arange(len(change)), seed=seed).weights
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)


def slow_signed_rank(change: np.ndarray) -> float:
    """Share of all possible signs of the changes whose rank sum is as extreme."""
    ranks = rankdata(np.abs(change))
    seen, middle = ranks[change > 0].sum(), ranks.sum() / 2
    sums = [ranks[np.array(signs)].sum() for signs in product((False, True), repeat=len(ranks))]
    return float(np.mean(np.abs(np.array(sums) - middle) >= abs(seen - middle) - 1e-9))


def test_paired_differences_are_those_of_the_slow_twin():
    one, other = drawn(0, (12, 3)), drawn(1, (12, 3)) + 0.5
    found = paired_differences(one, other, seed=5)
    for cell in range(3):
        change = other[:, cell] - one[:, cell]
        assert found.difference[cell] == pytest.approx(change.mean())
        assert (found.low[cell], found.high[cell]) == pytest.approx(slow_interval(change, 5))
        assert found.p[cell] == pytest.approx(slow_signed_rank(change))


def test_a_sequence_without_a_value_is_in_no_pair():
    one, other = drawn(0, (12, 1)), drawn(1, (12, 1))
    one[3], other[7] = np.nan, np.nan
    kept = np.delete(np.arange(12), [3, 7])
    found = paired_differences(one, other, seed=5)
    assert found.n == found.n_other == [10]
    assert found.difference == pytest.approx((other - one)[kept].mean())


def test_unpaired_differences_resample_each_side_by_itself():
    one, other = drawn(0, (12, 1)), drawn(1, (15, 1)) + 0.5
    found = unpaired_differences(one, other, seed=5)
    sides = [
        redraws(np.arange(len(values)), seed=seed).weights @ values[:, 0] / len(values)
        for values, seed in ((one, 5), (other, 6))
    ]
    assert found.difference == pytest.approx(other.mean() - one.mean())
    ends = np.quantile(sides[1] - sides[0], [0.025, 0.975])
    assert [found.low[0], found.high[0]] == pytest.approx(list(ends))
    assert np.isnan(found.p).all()
    assert (found.n, found.n_other) == ([12], [15]), "sequences of both, not of the first alone"


def test_many_sequences_are_redrawn_in_blocks_of_neighbours(monkeypatch):
    monkeypatch.setattr(module, "MOST_BLOCKS", 20)
    values = drawn(0, (50, 1))
    values[7] = np.nan
    starts = [n * 50 // 20 for n in range(20)]
    blocks = [block[~np.isnan(block)] for block in np.split(values[:, 0], starts[1:])]
    resampled = [
        np.concatenate(
            [np.tile(block, int(n)) for block, n in zip(blocks, weights, strict=True)]
        ).mean()
        for weights in redraws(np.arange(20), seed=5).weights
    ]
    found = means(values, seed=5)
    assert found.mean == pytest.approx([np.nanmean(values)])
    assert found.n == [49]
    ends = (found.low[0], found.high[0])
    assert ends == pytest.approx(tuple(np.quantile(resampled, [0.025, 0.975])))


def test_few_sequences_have_no_interval_and_no_p_value():
    one, other = drawn(0, (LEAST_UNITS - 1, 1)), drawn(1, (LEAST_UNITS - 1, 1))
    for compare in (paired_differences, unpaired_differences):
        found = compare(one, other, seed=0)
        assert np.isnan([found.low, found.high, found.p]).all()
        assert found.difference == pytest.approx(other.mean() - one.mean())
    assert np.isnan(means(one, seed=0).low).all()
    found = means(np.full((3, 1), np.nan), seed=0)
    assert np.isnan([found.mean, found.low, found.high]).all()


def test_what_was_planted_is_found_and_little_else():
    one, other = drawn(0), drawn(1)
    other[:, :PLANTED] += 2
    significant = corrected(paired_differences(one, other, seed=0).p) <= 0.05
    assert significant[:PLANTED].all()
    assert significant[PLANTED:].sum() <= 0.05 * (CELLS - PLANTED)


def test_correction_is_the_slow_twin_and_leaves_out_what_is_unknown():
    p = np.array([0.01, np.nan, 0.04, 0.03, 0.5])
    known = sorted(p_value for p_value in p if not np.isnan(p_value))
    slow = [
        min(
            len(known) * later / (place + 1)
            for place, later in enumerate(known)
            if later >= p_value
        )
        for p_value in p[~np.isnan(p)]
    ]
    assert list(corrected(p)[~np.isnan(p)]) == pytest.approx(slow)
    assert np.isnan(corrected(p)[1])
    assert np.isnan(corrected(np.array([np.nan]))).all()
