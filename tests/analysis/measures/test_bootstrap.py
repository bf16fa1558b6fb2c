"""Resamples of whole units, and when there are too few of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.bootstrap import (
    LEAST_UNITS,
    RESAMPLES,
    median_with_interval,
    percentile_interval,
    redraws,
)
from tests.reference import bootstrap as twin


@given(st.lists(st.integers(0, 14), max_size=30), st.integers(0, 9))
def test_windows_of_one_document_are_drawn_together_and_too_few_are_not_drawn(units, seed):
    drawn = redraws(np.array(units, dtype=np.int64), seed=seed).weights
    n_drawn = RESAMPLES if len(set(units)) >= LEAST_UNITS else 0
    assert drawn.shape == (n_drawn, len(units))
    of_unit = {unit: drawn[:, [u == unit for u in units]] for unit in units}
    for weights in of_unit.values():
        assert (weights == weights[:, :1]).all()
    totals = np.sum([columns[:, 0] for columns in of_unit.values()], axis=0)
    assert (totals == len(of_unit)).all()


def test_draws_spread_means_as_those_of_the_slow_twin_do_by_their_seed():
    units = [0] * 8 + list(range(1, 20))
    values = np.random.default_rng(0).normal(size=len(units))
    slow = np.array(twin.drawn_counts(units, resamples=3000, seed=1)) @ values
    fast = redraws(np.array(units), seed=0).weights @ values
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.15 * slow.std())
    assert fast.std() == pytest.approx(slow.std(), rel=0.1)
    again, other = (redraws(np.array(units), seed=seed).weights @ values for seed in (0, 1))
    assert (fast == again).all()
    assert (fast != other).any()


def test_percentiles_are_those_of_the_slow_twin_and_skip_what_is_no_number():
    values = np.random.default_rng(0).normal(size=(77, 2))
    values[::7, 1] = np.nan
    low, high = percentile_interval(values)
    for cell in range(2):
        numbers = values[~np.isnan(values[:, cell]), cell]
        assert (low[cell], high[cell]) == pytest.approx(twin.interval(numbers.tolist()))
    assert np.isnan(percentile_interval(values[:0])).all()


def test_a_cell_of_fewer_than_ten_units_has_no_interval():
    units = np.arange(3 * LEAST_UNITS) // 3
    drawn = redraws(units, seed=0)
    present = np.ones((len(units), 2), dtype=bool)
    present[units == 0, 1] = False
    low, high = drawn.interval(drawn.weights @ present.astype(float), present)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_some_of_the_sequences_keep_their_draws():
    drawn = redraws(np.array([4, 4, 1, 2, *range(5, 12)]), seed=3)
    some = drawn.of(np.array([3, 0]))
    assert some.units.tolist() == [2, 4]
    assert some.weights.any()
    assert (some.weights == drawn.weights[:, [3, 0]]).all()


@pytest.mark.parametrize("n", [10, 11])
def test_the_interval_of_a_median_is_that_of_medians_written_out(n):
    values = np.random.default_rng(1).normal(size=n)
    weights = redraws(np.arange(n), seed=3).weights.astype(int)
    medians = [float(np.median(np.repeat(values, counts))) for counts in weights]
    found = median_with_interval(values, seed=3)
    assert found == pytest.approx((float(np.median(values)), *twin.interval(medians)))
    assert np.isnan(median_with_interval(values[: LEAST_UNITS - 1], seed=3)[1:]).all()
    assert np.isnan(median_with_interval(values[:0], seed=3)).all()
