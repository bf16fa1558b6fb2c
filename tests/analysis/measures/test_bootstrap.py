"""Resamples of whole units (efron-1979), or too few of them, and parts of correlations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from analysis.measures.bootstrap import LEAST_UNITS, RESAMPLES, median_with_interval, redraws
from analysis.measures.correlation_parts import correlation_parts, moments, single_units
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


def test_a_cell_of_fewer_than_ten_units_has_no_interval():
    units = np.arange(3 * LEAST_UNITS) // 3
    drawn = redraws(units, seed=0)
    present = np.ones((len(units), 2), dtype=bool)
    present[units == 0, 1] = False
    low, high = drawn.interval(drawn.weights @ present.astype(float), present)
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_the_interval_of_a_median_is_that_of_medians_written_out():
    n = 11
    values = np.random.default_rng(1).normal(size=n)
    weights = redraws(np.arange(n), seed=3).weights.astype(int)
    medians = [float(np.median(np.repeat(values, counts))) for counts in weights]
    found = median_with_interval(values, seed=3)
    assert found == pytest.approx((float(np.median(values)), *np.quantile(medians, ENDS)))
    assert np.isnan(median_with_interval(values[: LEAST_UNITS - 1], seed=3)[1:]).all()
    assert np.isnan(median_with_interval(values[:0], seed=3)).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3), st.integers(1, 4)),
        min_size=2,
        max_size=30,
    )
)
def test_the_parts_add_up_and_are_those_of_the_slow_twin(rows):
    """Two values, layer and head: within heads, between heads of a layer and between layers."""
    first, second, layers, heads = np.array(rows, dtype=float).T
    assume(np.ptp(first) > 0 and np.ptp(second) > 0)
    names, of_row = np.unique(np.stack([layers, heads]), axis=1, return_inverse=True)
    _, of_head = np.unique(names[0], return_inverse=True)
    ranks = [rankdata(values) for values in (first, second)]
    n_layers = int(of_head.max()) + 1
    units = [*[single_units(names.shape[1], seed=0)] * 2, single_units(n_layers, seed=0)]
    of_rows = moments(ranks, np.ones(len(first)), of_row.ravel())
    parts = correlation_parts(of_rows, (of_head,), (*units,))
    whole = spearmanr(first, second)[0]
    assert sum(part.contribution for part in parts) == pytest.approx(whole, abs=1e-9)
    slow = twin.parts([of.tolist() for of in ranks], list(zip(layers, heads, strict=True)))
    for part, (contribution, own) in zip(parts, slow, strict=True):
        assert part.contribution == pytest.approx(contribution, abs=1e-9)
        assert part.spearman == pytest.approx(np.nan if own is None else own, abs=1e-6, nan_ok=True)
