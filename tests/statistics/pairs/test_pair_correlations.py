"""Partial rank correlation (croux-2010), and that of PMI with mean change, pair by pair."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from analysis.measures.pairs.rank_correlation import (
    LEAST_WORDS,
    correlation,
    dyadic_variance,
    partial_rank_correlation,
    ranked,
    word_pairs,
)
from analysis.statistics.pairs.relations import PMI_MIN_COUNTS, _rows

Rows = list[list[float]]


def slow_correlation(columns: Rows, weights: np.ndarray | None = None) -> float | None:
    """ρ of the first two columns given the others; every row weighs the same unless told."""
    n = len(columns[0])
    if n < len(columns) + 1:
        return None
    weights = np.full(n, 1 / n) if weights is None else weights
    values = np.array(columns)[:, None]
    other = values.swapaxes(1, 2)
    ranks = ((values < other) + (values == other) / 2) @ weights  # mid-ranks
    given = np.vstack([np.ones(n), ranks[2:]]).T * np.sqrt(weights)[:, None]
    both = ranks[:2].T * np.sqrt(weights)[:, None]
    first, second = (both - given @ np.linalg.lstsq(given, both, rcond=1e-9)[0]).T
    squares = first @ first, second @ second
    return None if min(squares) < 1e-15 else first @ second / math.sqrt(squares[0] * squares[1])


def slow_influence(columns: Rows, row: int, step: float = 1e-5) -> float:
    """Derivative of ρ with respect to weight moved from all rows to one of them."""
    n = len(columns[0])
    ends = []
    for amount in (step, -step):
        weights = np.full(n, (1 - amount) / n)
        weights[row] += amount
        ends.append(slow_correlation(columns, weights))
    return (ends[0] - ends[1]) / (2 * step)


def slow_dyadic_variance(influence: list[float], pairs: list[tuple[int, int]]) -> float:
    """aronow-2015: Σ ψ_d ψ_e / n² over d, e with a word in common, or Σ ψ_d² / n² if more."""
    shared = sum(
        one * other
        for one, pair in zip(influence, pairs, strict=True)
        for other, second in zip(influence, pairs, strict=True)
        if set(pair) & set(second)
    )
    return max(shared, sum(psi * psi for psi in influence)) / len(pairs) ** 2


def measured(*columns):
    """Result of the measure for the first two columns, given the others."""
    first, second, *others = (ranked(np.array(column, dtype=float)) for column in columns)
    return partial_rank_correlation(first, second, tuple(others))


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
    for row in range(0, 30, 3):
        assert found[1][row] == pytest.approx(slow_influence(columns, row), abs=1e-4)


def test_what_is_given_twice_changes_nothing_and_what_it_explains_has_none():
    values = np.random.default_rng(0).normal(size=(3, 50))
    once, twice = measured(*values), measured(*values, values[2])
    assert once is not None
    assert twice is not None
    assert twice[0] == pytest.approx(once[0])
    np.testing.assert_allclose(twice[1], once[1], atol=1e-9)
    assert measured(values[0], values[1], values[0]) is None
    assert measured(np.ones(50), values[1]) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(-1, 1)),
        min_size=1,
        max_size=20,
        unique_by=lambda row: row[:2],
    )
)
def test_variance_follows_its_definition(drawn):
    source, target, influence = (np.array(column) for column in zip(*drawn, strict=True))
    expected = slow_dyadic_variance(influence.tolist(), [row[:2] for row in drawn])
    variance = dyadic_variance(influence, word_pairs(source, target))
    assert variance == pytest.approx(expected, abs=1e-12)


def test_an_interval_is_that_of_the_dyadic_variance_on_fishers_scale():
    n = LEAST_WORDS
    first, second = np.random.default_rng(0).normal(size=(2, n))
    sides = ranked(first), ranked(first + second)
    source, target = np.arange(n), (np.arange(n) + 1) % n  # each word is in two pairs
    found = correlation(*sides, (), word_pairs(source, target))
    estimate = partial_rank_correlation(*sides, ())
    assert found is not None
    assert estimate is not None
    rho, influence = estimate
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    variance = slow_dyadic_variance(influence.tolist(), pairs)
    reach = student.ppf(0.975, n - 1) * math.sqrt(variance) / (1 - rho**2)
    middle = math.atanh(rho)
    ends = (rho, math.tanh(middle - reach), math.tanh(middle + reach))
    assert found == pytest.approx(ends)


def test_too_few_words_a_perfect_order_and_a_constant_have_no_interval():
    for n_words, is_sure in ((LEAST_WORDS - 1, False), (LEAST_WORDS, True)):
        first, second = np.random.default_rng(0).normal(size=(2, n_words))
        pairs = word_pairs(np.arange(n_words), np.arange(n_words))
        found = correlation(ranked(first), ranked(second), (), pairs)
        assert found is not None
        assert np.isfinite(found[1:]).all() == is_sure
    for seed in range(10):  # whatever rounding leaves of 1 - ρ²
        values = np.random.default_rng(seed).normal(size=LEAST_WORDS)
        for sign in (1, -1):
            found = correlation(ranked(values), ranked(sign * values), (), pairs)
            assert found is not None
            assert found.spearman == pytest.approx(sign)
            assert abs(found.spearman) < 1 or np.isnan(found[1:]).all()
    constant = ranked(np.ones(LEAST_WORDS))
    assert correlation(ranked(np.arange(LEAST_WORDS)), constant, (), pairs) is None


def test_a_hundred_words_have_the_interval_of_their_pairs():
    n, generator = 100, np.random.default_rng(0)
    pmi, source, target, noise = generator.normal(size=(4, n))
    columns = {
        "pmi": pmi,
        "source_frequency": source,
        "target_frequency": target,
        "ff": pmi + noise,
    }
    numbers = np.arange(n)
    frame = pd.DataFrame(
        {"source": numbers, "target": numbers, "n": max(PMI_MIN_COUNTS), **columns}
    )
    rows = list(_rows(frame, ("ff",)))
    ranks = {name: ranked(values) for name, values in columns.items()}
    frequencies = (ranks["source_frequency"], ranks["target_frequency"])
    for row in rows:
        is_partial = row["quantity"] == "partial"
        first, given = (ranks["pmi"], frequencies) if is_partial else (ranks[row["quantity"]], ())
        expected = correlation(first, ranks["ff"], given, word_pairs(numbers, numbers))
        assert (row["spearman"], row["low"], row["high"]) == expected
        assert row["low"] < row["spearman"] < row["high"]
    assert len(rows) == 4 * len(PMI_MIN_COUNTS)


def test_where_too_few_pairs_are_left_there_is_no_row():
    values = np.arange(2.0)
    columns = dict.fromkeys(("pmi", "source_frequency", "target_frequency", "ff"), values)
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 0], "n": 10, **columns})
    assert list(_rows(frame, ("ff",))) == []
