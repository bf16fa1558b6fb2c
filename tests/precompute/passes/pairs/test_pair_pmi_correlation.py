from collections import Counter
from math import fsum

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.errors import UnknownName
from analysis.measures.pairs.pair_pmi_correlation import correlation, word_pairs
from analysis.measures.pairs.partial_rank_correlation import ranked
from analysis.statistics.pairs import pair_pmi_correlation
from analysis.statistics.pairs.pair_pmi_correlation import EXTREMES, MIN_COUNTS, WINDOWS
from precompute.passes.pairs import pair_delta
from precompute.passes.pairs import pair_pmi_correlation as the_pass
from tests.reference.pairs import pair as pair_reference
from tests.reference.pairs import pair_pmi_correlation as reference
from tests.small_store import build_store


@pytest.fixture(scope="module")
def words(pair_store) -> pd.DataFrame:
    """Pairs without special tokens: by layer, their PMI and mean changes."""
    return pair_store.execute(
        "select layer, w.n, s.token as source, t.token as target, pmi::double as pmi, "
        "pair.relation, columns('mean_.*')::double from pair_delta_wide as w "
        "join pair using (source, target) "
        "join vocabulary as s on s.token_id = w.source "
        "join vocabulary as t on t.token_id = w.target where not has_special"
    ).df()


@pytest.fixture(scope="module")
def occurrences(pair_run, layer_order) -> dict[tuple[int, str], dict[tuple[int, int, int], float]]:
    """Change of every pair of positions of a sequence, by layer and effect, in float32 like shards.

    Rounding makes ties, which decide ranks.
    """
    rows = pd.concat(map(pd.read_parquet, pair_run[1].shards(pair_delta)))
    places = list(zip(rows["seq"], rows["target_pos"], rows["source_pos"], strict=True))
    by_effect: dict = {}
    for effect in layer_order.effects:
        columns = zip(rows["layer"], places, rows[effect].astype(float), strict=True)
        for layer, place, change in columns:
            by_effect.setdefault((layer, effect), {})[place] = change
    return by_effect


@pytest.mark.parametrize("least", MIN_COUNTS)
@pytest.mark.parametrize("size", WINDOWS)
def test_correlations_follow_their_definition(
    pair_store, pair_words, occurrences, is_causal, size, least
):
    """The expected values come from single occurrences, and words counted one by one."""
    correlations = pair_pmi_correlation.by_layer(pair_store, min_count=least, window_size=size)
    rows = {(row.layer, row.effect, row.quantity): row for row in correlations.itertuples()}
    assert len(rows) == len(correlations)
    pmi = pair_reference.pmi(pair_words, causal=is_causal, window=size)
    frequency = Counter(word for words in pair_words for word in words)
    for (layer, effect), deltas in occurrences.items():
        changes: dict[tuple[int, int], list[float]] = {}
        for seq, words in enumerate(pair_words):
            for pair, place in pair_reference.places(words, causal=is_causal, window=size):
                changes.setdefault(pair, []).append(deltas[seq, *place])
        chosen = [pair for pair, of_pair in changes.items() if len(of_pair) >= least]
        change = [float(np.float32(fsum(changes[pair]) / len(changes[pair]))) for pair in chosen]
        of_pmi = [pmi[pair] for pair in chosen]
        of_sides = [[float(frequency[pair[side]]) for pair in chosen] for side in (0, 1)]
        compared = {
            "pmi": [of_pmi, change],
            "source_frequency": [of_sides[0], change],
            "target_frequency": [of_sides[1], change],
            "partial": [of_pmi, change, *of_sides],
        }
        for quantity, columns in compared.items():
            expected = reference.correlation(columns)
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
    drawn = generator.normal(size=(3, n))
    frame = pd.DataFrame(
        {
            "source": np.arange(n),
            "target": np.arange(n),
            "n": max(MIN_COUNTS),
            "pmi": drawn[0],
            "source_frequency": drawn[1],
            "target_frequency": drawn[2],
            "ff": drawn[0] + drawn[1] + generator.normal(size=n),
        }
    )
    rows = list(the_pass._rows(frame, ("ff",)))
    ranks = {name: ranked(frame[name].to_numpy()) for name in frame.columns[3:]}
    given = (ranks["source_frequency"], ranks["target_frequency"])
    words = word_pairs(np.arange(n), np.arange(n))
    for row in rows:
        of = "pmi" if row["quantity"] == "partial" else row["quantity"]
        held = given if row["quantity"] == "partial" else ()
        expected = correlation(ranks[of], ranks["ff"], held, words)
        assert (row["spearman"], row["low"], row["high"]) == expected
        assert row["low"] < row["spearman"] < row["high"]
    assert len(rows) == 4 * len(MIN_COUNTS)


def test_where_too_few_pairs_are_left_there_is_no_row(tmp_path):
    path = build_store(tmp_path, statistics=["pair_pmi_correlation"], max_tokens=5)
    with duckdb.connect(str(path), read_only=True) as store:
        for least in MIN_COUNTS:
            n_pairs = store.execute(
                "select count(*) from pair where n >= $least and not has_special", {"least": least}
            ).fetchall()[0][0]
            rows = pair_pmi_correlation.by_layer(store, min_count=least)
            assert rows.empty == (n_pairs < 3)


def test_points_are_a_fixed_sample_with_the_extremes(pair_store, words):
    chosen = words[(words["layer"] == 2) & (words["n"] >= 2)]
    asked = {"layer": 2, "effect": "ff", "min_count": 2}
    points = pair_pmi_correlation.points(pair_store, **asked, limit=5)
    again = pair_pmi_correlation.points(pair_store, **asked, limit=5)
    pd.testing.assert_frame_equal(points, again)
    assert list(points.columns) == ["source", "target", "n", "pmi", "mean_delta", "relation"]
    assert not points.duplicated(["source", "target"]).any()
    assert EXTREMES < len(points) <= 5 + 2 * EXTREMES
    pairs = set(points[["source", "target"]].itertuples(index=False, name=None))
    for rows in (chosen.nlargest(EXTREMES, "mean_ff"), chosen.nsmallest(EXTREMES, "mean_ff")):
        assert set(rows[["source", "target"]].itertuples(index=False, name=None)) <= pairs
    same = points.merge(chosen, on=["source", "target", "n", "pmi"])
    assert len(same) == len(points)
    assert (same["mean_delta"] == same["mean_ff"]).all()
    assert "special" not in set(points["relation"])


def test_a_sample_as_large_as_the_corpus_has_every_pair(pair_store, words):
    asked = {"layer": 1, "effect": "res_ln", "min_count": 1}
    points = pair_pmi_correlation.points(pair_store, **asked, limit=10**6)
    assert len(points) == (words["layer"] == 1).sum()


def test_an_unknown_effect_is_refused(pair_store):
    with pytest.raises(UnknownName, match="No effect is called 'mean'"):
        pair_pmi_correlation.points(pair_store, layer=1, effect="mean", min_count=1, limit=1)
