import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.correlation_parts import single_units
from analysis.measures.norms.frequency_correlation import frequency_ranks, rank_correlation
from tests.reference.norms import frequency_correlation as reference


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_ranks_count_what_is_more_frequent(counts):
    assert frequency_ranks(np.array(counts)).tolist() == reference.frequency_ranks(counts)


def test_correlation_follows_its_definition():
    generator = np.random.default_rng(0)
    ranks = generator.integers(1, 12, size=80)
    values = generator.integers(0, 9, size=80) + ranks / 3
    correlation = rank_correlation(ranks, values, np.arange(80) // 8, single_units(10, seed=0))
    expected = reference.rank_correlation(ranks.tolist(), values.tolist())
    assert correlation is not None
    assert correlation[0] == pytest.approx(expected, abs=1e-12)
    assert correlation[1] <= correlation[0] <= correlation[2]


def test_one_sequence_over_and_over_leaves_no_doubt():
    ranks, values = np.tile([1, 2, 3, 4], 12), np.tile([0.1, 0.3, 0.2, 0.9], 12)
    correlation = rank_correlation(ranks, values, np.arange(48) // 4, single_units(12, seed=0))
    assert correlation is not None
    assert correlation[1] == pytest.approx(correlation[0])
    assert correlation[2] == pytest.approx(correlation[0])


def test_values_that_never_vary_have_no_correlation():
    alone = single_units(1, seed=0)
    assert rank_correlation(np.arange(4), np.ones(4), np.zeros(4, dtype=int), alone) is None


def test_texts_that_differ_alone_have_it_all_between_them():
    """Every text repeats one rank and one value; then ranks are shuffled within each text."""
    texts = np.arange(120) // 6
    redrawn = single_units(20, seed=0)
    apart = rank_correlation(texts, 0.5 * texts, texts, redrawn)
    assert apart is not None
    within, between = apart.parts
    assert (within.contribution, between.contribution) == pytest.approx((0, 1), abs=1e-12)
    drawn = np.random.default_rng(0).permuted(np.tile(np.arange(6), (20, 1)), axis=1).ravel()
    paradox = rank_correlation(10 * texts + drawn, texts - 0.01 * drawn, texts, redrawn)
    assert paradox is not None
    within, between = paradox.parts
    assert within.high < 0 < between.low
    assert paradox.spearman == pytest.approx(within.contribution + between.contribution)
