"""Correlations of PMI with mean change, from single occurrences and words counted one by one."""

from collections import Counter
from math import fsum

import numpy as np
import pandas as pd
import pytest

from analysis.measures.pairs.rank_correlation import correlation, ranked, word_pairs
from analysis.statistics.pairs.relations import PMI_MIN_COUNTS, WINDOWS, _rows
from tests.statistics.pairs.test_pair import places, slow_pmi
from tests.statistics.pairs.test_rank_correlation import slow_correlation


@pytest.fixture(scope="module")
def changes(occurrences, layer_order) -> dict[tuple[int, str], dict[tuple[int, int, int], float]]:
    """Change of every pair of positions of a sequence, by layer and effect, in float32 like shards.

    Rounding makes ties, which decide ranks.
    """
    by_effect: dict = {}
    for effect in layer_order.effects:
        columns = (
            occurrences[name] for name in ("layer", "seq", "target_pos", "source_pos", effect)
        )
        for layer, *place, change in zip(*columns, strict=True):
            by_effect.setdefault((layer, effect), {})[tuple(place)] = float(change)
    return by_effect


@pytest.mark.parametrize("least", [2, 5])
@pytest.mark.parametrize("size", WINDOWS)
def test_correlations_follow_their_definition(
    pair_store, pair_words, changes, is_causal, size, least
):
    correlations = pair_store.execute(
        "from pair_pmi_correlation where min_count = ? and window_size is not distinct from ?",
        [least, size],
    ).df()
    rows = {(row.layer, row.effect, row.quantity): row for row in correlations.itertuples()}
    assert len(rows) == len(correlations)
    pmi = slow_pmi(pair_words, causal=is_causal, window=size)
    frequency = Counter(word for words in pair_words for word in words)
    for (layer, effect), deltas in changes.items():
        by_pair: dict[tuple[int, int], list[float]] = {}
        for seq, words in enumerate(pair_words):
            for pair, place in places(words, causal=is_causal, window=size):
                by_pair.setdefault(pair, []).append(deltas[seq, *place])
        chosen = [pair for pair, of_pair in by_pair.items() if len(of_pair) >= least]
        change = [float(np.float32(fsum(by_pair[pair]) / len(by_pair[pair]))) for pair in chosen]
        of_pmi = [pmi[pair] for pair in chosen]
        of_sides = [[float(frequency[pair[side]]) for pair in chosen] for side in (0, 1)]
        compared = {
            "pmi": [of_pmi, change],
            "source_frequency": [of_sides[0], change],
            "target_frequency": [of_sides[1], change],
            "partial": [of_pmi, change, *of_sides],
        }
        for quantity, columns in compared.items():
            expected = slow_correlation(columns)
            row = rows.pop((layer, effect, quantity), None)
            if expected is None:
                assert row is None
            else:
                assert row is not None
                assert row.spearman == pytest.approx(expected, abs=1e-9)
                assert row.n_pairs == len(chosen)
                assert row.n_words == len({word for pair in chosen for word in pair})
    assert not rows
    assert correlations[["low", "high"]].isna().all(axis=None)  # fewer than 100 words


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
