"""Pairs of the corpus, their changes and relations, and what is listed, counted one by one."""

import math
import shutil
from collections import Counter
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from analysis.measures.bootstrap import redraws
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.rank_correlation import (
    LEAST_WORDS,
    correlation,
    dyadic_variance,
    partial_rank_correlation,
    ranked,
    word_pairs,
)
from analysis.measures.pairs.token_relation import mean_ratios, token_relations
from analysis.scopes import POST_NORM, RELATIONS
from analysis.statistics.pairs.changes import LIMIT, MIN_COUNTS, PAIR_DELTA
from analysis.statistics.pairs.relations import PMI_MIN_COUNTS, _rows
from precompute.store.check import assert_unique


def test_counts_of_a_large_corpus_do_not_overflow():
    for n, kind in ((2_000_000_000, np.int32), (2**40, np.int64)):
        counts = np.array([n], dtype=kind)
        assert pointwise_mutual_information(counts, counts, counts, n).tolist() == [0]


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_a_pair_that_stands_twice_is_told(pair_run, tmp_path):
    with duckdb.connect(shutil.copy(pair_run[0].output, tmp_path / "copy.duckdb")) as store:
        assert_unique(store, PAIR_DELTA)
        store.execute("insert into stored.pair_delta from stored.pair_delta limit 1")
        with pytest.raises(Exception, match=r"1 row\(s\) of pair_delta break `unique"):
            assert_unique(store, PAIR_DELTA)


def test_intervals_follow_students_distribution_from_the_least_degrees():
    """Quantiles are those of printed tables."""
    quantile = {2.0: 4.302653, 10.0: 2.228139, 199.0: 1.971957}
    degrees = np.array([*quantile, LEAST_DEGREES, LEAST_DEGREES - 1e-9, 1.0, np.nan])
    low, high = mean_interval(np.full(7, 0.25), np.full(7, 0.3), degrees)
    reach = 0.3 * np.array(list(quantile.values()))
    np.testing.assert_allclose(low[:3], 0.25 - reach, rtol=1e-6)
    np.testing.assert_allclose(high[:3], 0.25 + reach, rtol=1e-6)
    assert np.isfinite([low[3], high[3]]).all()
    assert np.isnan([low[4:], high[4:]]).all()


PLACES = ["seq", "source_pos", "target_pos"]
PAIR = ["layer", "effect", "source", "target"]


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, pair_run):
    """Pairs are those that a reader sees first in the lists by mean change."""
    wide, listed = pair_store.execute("from pair_delta_wide").df(), []
    ways = product(POST_NORM.effects, (1, 2), (1, -1), MIN_COUNTS, (True, False))
    for effect, layer, sign, least, special in ways:
        rows = wide.assign(by=-sign * wide[f"mean_{effect}"], effect=effect)
        rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["by"] < 0)]
        rows = rows if special else rows[rows["relation"] > 0]
        listed.append(rows.sort_values(["by", "source", "target"]).head(LIMIT)[PAIR])
    columns = ["layer", "source", "target", *PLACES]
    effects = list(POST_NORM.effects)
    occurrences = pd.concat(map(pd.read_parquet, pair_run[1].shards(PAIR_DELTA)))
    every = occurrences.melt(columns, effects, var_name="effect", value_name="delta")
    expected = every.merge(pd.concat(listed).drop_duplicates())
    found = pair_store.execute("from pair_occurrence").df().astype({"effect": str})
    columns = [*PAIR, *PLACES, "delta"]
    found, expected = (rows[columns].sort_values(columns[:-1]) for rows in (found, expected))
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False
    )
    assert 0 < len(expected) < len(every)


@pytest.mark.parametrize("family", ["gemma3_text"], indirect=True, scope="session")
def test_a_layer_has_the_pairs_that_it_sees(pair_store, pair_run, tiny):
    """The first layer has a window, the second none."""
    first, second = (
        Counter(
            (int(sequence.ids[source]), int(sequence.ids[target]))
            for sequence in pair_run[1].corpus
            for target, source in layer.pairs(len(sequence)).nonzero().tolist()
            if target != source
        )
        for layer in tiny.layers
    )
    assert set(first) < set(second), "this test could not have failed"
    pairs = pair_store.execute("from pair").df().set_index(["source", "target"])
    assert set(pairs.index) == set(second)
    for layer, counts in ((1, first), (2, second)):
        rows = pair_store.execute("from pair_delta_wide where layer = ?", [layer]).df()
        assert rows.set_index(["source", "target"])["n"].to_dict() == counts


def test_the_first_relation_that_fits_is_taken():
    """[CLS] det ##our a det [SEP] b b, where the last two are pieces of one word."""
    ids, words = np.array([101, 7, 8, 9, 7, 102, 5, 5]), np.array([-1, 0, 0, 1, 2, -1, 3, 3])
    rows = token_relations(ids, words, np.array([0] * 6 + [1] * 2, dtype=np.uint8))
    assert (rows == rows.T).all()
    named = np.array(RELATIONS)[rows]
    expected = "special same_word word_pieces same_segment same_word special other_segment"
    assert named[1].tolist() == [*expected.split(), "other_segment"]
    assert (named[2, 3], named[6, 7], named[0, 5]) == ("adjacent", "same_word", "special")


def test_a_ratio_is_that_of_the_means_over_sequences_with_both_shares():
    shares = np.array([0.2, 0.4, np.nan, 0.9])[:, None]
    before = np.array([0.1, 0.3, 0.5, np.nan])[:, None]
    assert mean_ratios(shares, before, redraws(np.arange(4), seed=0))[0] == pytest.approx(
        [0.6 / 0.4]
    )


def test_a_relation_that_holds_nothing_before_has_no_ratio():
    before = np.stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.25)], axis=1)
    for _ in range(3):  # memory that nothing was written to may hold anything
        for ends in mean_ratios(np.full((30, 3), 0.5), before, redraws(np.arange(30), seed=0)):
            assert np.isnan(ends).tolist() == [True, True, False]
            assert ends[2] == 2


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


def test_each_row_has_the_interval_of_its_pairs_and_too_few_have_no_row():
    n, generator = 100, np.random.default_rng(0)
    names = ("pmi", "source_frequency", "target_frequency", "ff")
    columns = dict(zip(names, generator.normal(size=(4, n)), strict=True))
    columns["ff"] += columns["pmi"]
    numbers = np.arange(n)
    frame = pd.DataFrame(
        {"source": numbers, "target": numbers, "n": max(PMI_MIN_COUNTS), **columns}
    )
    rows = list(_rows(frame, ("ff",)))
    pmi, *frequencies, change = map(ranked, columns.values())
    for row in rows:
        is_partial = row["quantity"] == "partial"
        first = pmi if is_partial else ranked(columns[row["quantity"]])
        given = tuple(frequencies) if is_partial else ()
        expected = correlation(first, change, given, word_pairs(numbers, numbers))
        assert (row["spearman"], row["low"], row["high"]) == expected
        assert row["low"] < row["spearman"] < row["high"]
    assert len(rows) == 4 * len(PMI_MIN_COUNTS)
    assert list(_rows(frame[:2], ("ff",))) == []
