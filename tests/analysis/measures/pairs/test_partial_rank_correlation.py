import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from analysis.measures.pairs.partial_rank_correlation import partial_rank_correlation, ranked
from tests.reference.pairs import partial_rank_correlation as reference

few_values = st.tuples(*[st.integers(0, 5)] * 4)


def measured(*columns):
    """Result of the measure for the first two columns, given the others."""
    first, second, *others = (ranked(np.array(column, dtype=float)) for column in columns)
    return partial_rank_correlation(first, second, tuple(others))


@given(st.lists(few_values, min_size=1, max_size=15))
def test_correlation_follows_its_definition(rows):
    columns = [[float(value) for value in column] for column in zip(*rows, strict=True)]
    for n_given in (0, 1, 2):
        expected = reference.partial_rank_correlation(columns[: 2 + n_given])
        found = measured(*columns[: 2 + n_given])
        if expected is None:
            assert found is None
        else:
            assert found is not None
            assert found[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_given", [0, 1, 2])
@pytest.mark.parametrize("decimals", [1, 9])
def test_influence_is_how_the_correlation_moves_with_weight(n_given, decimals):
    """Columns have many ties, or none."""
    drawn = np.random.default_rng(n_given).normal(size=(2 + n_given, 30))
    drawn[1] += drawn[0] + drawn[-1]
    columns = drawn.round(decimals).tolist()
    found = measured(*columns)
    assert found is not None
    assert found[1].sum() == pytest.approx(0, abs=1e-9)
    for row in range(30):
        assert found[1][row] == pytest.approx(reference.influence(columns, row), abs=1e-4)


@settings(max_examples=20)
@given(st.lists(few_values, min_size=3, max_size=40))
def test_with_nothing_given_it_is_spearmans(rows):
    first, second, *_ = zip(*rows, strict=True)
    found = measured(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found is not None
        assert found[0] == pytest.approx(float(np.asarray(spearmanr(first, second))[0]))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_fewer_rows_than_can_vary_have_none(n):
    columns = np.random.default_rng(n).normal(size=(4, n))
    assert (measured(*columns[:2]) is None) == (n < 3)
    assert measured(*columns) is None


def test_a_quantity_that_what_is_given_explains_has_none():
    values = np.random.default_rng(0).normal(size=(2, 20))
    assert measured(values[0], values[1], values[0]) is None
    assert measured(np.ones(20), values[1]) is None


def test_a_quantity_given_twice_changes_nothing():
    values = np.random.default_rng(0).normal(size=(3, 50))
    once, twice = measured(*values), measured(*values, values[2])
    assert once is not None
    assert twice is not None
    assert twice[0] == pytest.approx(once[0])
    np.testing.assert_allclose(twice[1], once[1], atol=1e-9)


def test_a_mid_rank_is_the_share_of_rows_below_and_half_of_those_alike():
    assert ranked(np.array([7.0])).rank.tolist() == [1 / 2]
    assert ranked(np.array([3.0, 1.0, 3.0, 9.0])).rank.tolist() == [1 / 2, 1 / 8, 1 / 2, 7 / 8]
    assert ranked(np.zeros(0)).rank.tolist() == []
