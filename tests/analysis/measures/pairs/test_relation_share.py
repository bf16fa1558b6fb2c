import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.comparison.differences import means
from analysis.measures.bootstrap import LEAST_UNITS, Redraws, redraws
from analysis.measures.pairs.relation_share import mean_ratios
from tests.reference.pairs import relation_share as reference

share = st.one_of(st.none(), st.floats(0, 1))


def _drawn(n_sequences: int) -> Redraws:
    return redraws(np.arange(n_sequences), seed=0)


@given(st.lists(st.tuples(share, share), min_size=1, max_size=12))
def test_ratio_follows_its_definition(rows):
    sides = [list(side) for side in zip(*rows, strict=True)]
    first, second = (np.array(side, dtype=np.float64)[:, None] for side in sides)
    ratio, low, high = mean_ratios(first, second, _drawn(len(rows)))
    expected = reference.mean_ratio(*sides)
    if expected is None or expected == 0:
        assert not np.nan_to_num(ratio[0])
    else:
        assert ratio[0] == pytest.approx(expected)
    assert np.isnan(low[0]) or low[0] <= high[0]


def test_a_ratio_that_every_sequence_has_is_sure_however_much_they_differ():
    """Two marginal intervals would be wide: shares go from a tenth to a half."""
    before = np.linspace(0.1, 0.5, 30)[:, None]
    ratio, low, high = mean_ratios(1.2 * before, before, _drawn(30))
    assert [ratio[0], low[0], high[0]] == pytest.approx([1.2] * 3)


def test_the_interval_holds_1_when_that_of_the_difference_holds_0():
    generator = np.random.default_rng(0)
    before = generator.uniform(0.1, 0.5, size=(40, 60))
    shares = before + generator.normal(generator.normal(0, 0.02, size=60), 0.08, size=(40, 60))
    _, low, high = mean_ratios(shares, before, _drawn(40))
    difference = means(shares - before, seed=0)
    np.testing.assert_array_equal(low > 1, difference.low > 0)
    np.testing.assert_array_equal(high < 1, difference.high < 0)
    assert 0 < ((low > 1) | (high < 1)).sum() < 60


def test_the_interval_covers_19_times_of_20():
    generator = np.random.default_rng(1)
    before = generator.gamma(4.0, 0.05, size=(40, 400))
    shares = before * 1.5 + generator.normal(0, 0.05, size=before.shape)
    _, low, high = mean_ratios(shares, before, _drawn(40))
    assert 0.91 <= ((low <= 1.5) & (high >= 1.5)).mean() <= 0.98


@pytest.mark.parametrize("n", [LEAST_UNITS - 1, LEAST_UNITS])
def test_too_few_sequences_have_a_ratio_and_no_interval(n):
    values = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, n, 1))
    ratio, low, high = mean_ratios(values[0], values[1], _drawn(n))
    assert np.isfinite(ratio).all()
    assert np.isfinite([low, high]).all() == (n >= LEAST_UNITS)


def test_a_relation_that_holds_nothing_before_has_no_ratio():
    before = np.stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.25)], axis=1)
    for _ in range(3):  # memory that nothing was written to may hold anything
        ratio, low, high = mean_ratios(np.full((30, 3), 0.5), before, _drawn(30))
        for ends in (ratio, low, high):
            assert np.isnan(ends).tolist() == [True, True, False]
            assert ends[2] == 2
