"""Resamples of whole units (efron-1979), or too few of them, and parts of correlations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from analysis.measures.bootstrap import (
    LEAST_UNITS,
    RESAMPLES,
    median_with_interval,
    percentile_interval,
    redraws,
)
from analysis.measures.correlation_parts import (
    Units,
    correlation_parts,
    moments,
    single_units,
)
from tests.reference import correlation_parts as twin

ENDS = (0.025, 0.975)


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


def test_draws_spread_sums_as_independent_draws_of_whole_units_do_by_their_seed():
    units = np.array([0] * 8 + list(range(1, 20)))
    values = np.random.default_rng(0).normal(size=len(units))
    of_units = np.bincount(units, values)
    fast, again, other = (redraws(units, seed=seed).weights @ values for seed in (0, 0, 1))
    spread = len(of_units) ** 0.5 * of_units.std()
    assert fast.mean() == pytest.approx(of_units.sum(), abs=0.15 * spread)
    assert fast.std() == pytest.approx(spread, rel=0.1)
    assert (fast == again).all()
    assert (fast != other).any()


def test_percentiles_are_those_of_the_slow_twin_and_skip_what_is_no_number():
    values = np.random.default_rng(0).normal(size=(77, 2))
    values[::7, 1] = np.nan
    low, high = percentile_interval(values)
    for cell in range(2):
        numbers = values[~np.isnan(values[:, cell]), cell]
        assert (low[cell], high[cell]) == pytest.approx(tuple(np.quantile(numbers, ENDS)))
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
    assert found == pytest.approx((float(np.median(values)), *np.quantile(medians, ENDS)))
    assert np.isnan(median_with_interval(values[: LEAST_UNITS - 1], seed=3)[1:]).all()
    assert np.isnan(median_with_interval(values[:0], seed=3)).all()


ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3), st.integers(1, 4)),
    min_size=2,
    max_size=30,
)
"""Two values, layer and head."""


def _split(first, second, layers, heads):
    """The three parts within heads, between heads of a layer and between layers."""
    names, of_row = np.unique(np.stack([layers, heads]), axis=1, return_inverse=True)
    _, of_head = np.unique(names[0], return_inverse=True)
    ranks = [rankdata(values) for values in (first, second)]
    n_layers = int(of_head.max()) + 1
    return correlation_parts(
        moments(ranks, np.ones(len(first)), of_row.ravel()),
        (of_head,),
        (*[single_units(names.shape[1], seed=0)] * 2, single_units(n_layers, seed=0)),
    )


@given(ROWS)
def test_the_parts_add_up_and_are_those_of_the_slow_twin(rows):
    first, second, layers, heads = np.array(rows, dtype=float).T
    assume(np.ptp(first) > 0 and np.ptp(second) > 0)
    parts = _split(first, second, layers, heads)
    whole = spearmanr(first, second)[0]
    assert sum(part.contribution for part in parts) == pytest.approx(whole, abs=1e-9)
    ranks = [rankdata(values).tolist() for values in (first, second)]
    slow = twin.parts(ranks, list(zip(layers, heads, strict=True)))
    for part, (contribution, own) in zip(parts, slow, strict=True):
        assert part.contribution == pytest.approx(contribution, abs=1e-9)
        assert part.spearman == pytest.approx(np.nan if own is None else own, abs=1e-6, nan_ok=True)


def _heads(n_layers=12, n_heads=4, n=60):
    layers, heads, values = np.indices((n_layers, n_heads, n)).reshape(3, -1)
    return layers, heads, values


def test_a_planted_paradox_has_both_signs():
    """Negative in every head, positive between heads of a layer, negative between layers."""
    layers, heads, values = _heads()
    drawn = np.random.default_rng(0)
    inside = drawn.normal(size=len(values))
    first = inside + 20.0 * heads + 500.0 * layers
    second = -inside + 0.1 * drawn.normal(size=len(values)) + 20.0 * heads - 500.0 * layers
    within, between_heads, between_layers = _split(first, second, layers, heads)
    assert within.high < 0 < between_heads.low
    assert between_layers.high < 0
    whole = spearmanr(first, second)[0]
    assert whole == pytest.approx(between_layers.contribution, abs=0.02)
    assert abs(within.contribution) < 0.01
    assert within.spearman < -0.9


def test_groups_that_belong_together_are_redrawn_together():
    """Windows of one text, which no redraw takes apart: all of a text counts, or nothing of it."""
    drawn, groups = np.random.default_rng(0), np.repeat(np.arange(40), 25)
    of_text = np.arange(40) // 4
    slopes = np.where(np.arange(10) % 2, 1.0, -1.0)[of_text][groups]
    first = drawn.normal(size=len(groups))
    second = slopes * first + 0.1 * drawn.normal(size=len(groups))
    ranks = [rankdata(values) for values in (first, second)]
    of_groups = moments(ranks, np.ones(len(groups)), groups)
    apart = single_units(40, seed=0)
    together = Units(redraws(np.arange(10), seed=0), of_text)
    (by_group, _), (by_text, _) = (
        correlation_parts(of_groups, redrawn=(units,)) for units in (apart, together)
    )
    assert by_text.spearman == by_group.spearman
    assert by_text.high - by_text.low > 1.5 * (by_group.high - by_group.low)
