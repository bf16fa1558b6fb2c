import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.pair_pmi_correlation import spearman
from tests.reference import pair_pmi_correlation as reference

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


@given(rows)
def test_correlation_follows_its_definition(drawn):
    first, second = ([float(row[side]) for row in drawn] for side in (0, 1))
    expected = reference.spearman(first, second)
    found = spearman(np.array(first), np.array(second))
    assert found == (expected if expected is None else pytest.approx(expected, abs=1e-12))


def test_only_the_order_counts():
    values = np.random.default_rng(0).normal(size=(2, 50))
    found = spearman(values[0], values[1])
    assert found is not None
    assert spearman(np.exp(values[0]), values[1] ** 3) == pytest.approx(found)
    assert spearman(-values[0], values[1]) == pytest.approx(-found)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_pairs_have_no_correlation(n):
    assert spearman(np.arange(float(n)), np.arange(float(n))) is None


def test_a_quantity_that_never_varies_has_no_correlation():
    assert spearman(np.ones(5), np.arange(5.0)) is None
    assert spearman(np.arange(5.0), np.ones(5)) is None
