"""Pairs of the corpus, their changes and relations, and what is listed, counted one by one."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.measures.bootstrap import Redraws, redraws
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.token_relation import mean_ratios, token_relations
from analysis.scopes import EFFECTS, RELATIONS, SHARED_EFFECTS
from analysis.statistics.corpus import least_count, provenance
from analysis.statistics.pairs import changes
from analysis.statistics.pairs.changes import LIMIT, MIN_COUNTS, PAIR_DELTA, PAIR_EXTREME
from precompute.jobs.bounds import Bounds
from precompute.jobs.runner import run_local
from precompute.jobs.tables import merge
from precompute.run import run
from precompute.store.build import add_table, declare, file_config
from precompute.store.check import assert_unique, faults
from precompute.store.show import opened
from tests.statistics.fits import made
from tests.tracing import rows_of_table


@pytest.mark.parametrize(
    ("n", "kind"), [(2_000_000_000, np.int32), (4_000_000_000, np.int64), (2**40, np.int64)]
)
def test_counts_of_a_large_corpus_do_not_overflow(n, kind):
    counts = np.array([n], dtype=kind)
    assert pointwise_mutual_information(counts, counts, counts, n).tolist() == [0]


VALUES = [f"{kind}_{effect}" for kind, effect in product(("mean", "std", "error"), SHARED_EFFECTS)]
VALUES.append("degrees")


def test_a_sequence_of_one_token_has_no_pairs(tiny, sequences):
    arrays = ("ids", "segments", "token_types", "words", "masked", "tokens")
    alone = replace(sequences[0], **{name: getattr(sequences[0], name)[:1] for name in arrays})
    assert rows_of_table(PAIR_DELTA, tiny, [alone]).num_rows == 0


def test_an_effect_that_the_layers_do_not_have_is_null_and_never_0(pair_store, layer_order):
    for effect in EFFECTS:
        *filled, several, all_ = pair_store.execute(
            f"select count(mean_{effect}), count(std_{effect}), count(*) filter (n > 1), count(*) "
            "from pair_delta_wide"
        ).fetchall()[0]
        assert filled == ([all_, several] if effect in layer_order.effects else [0, 0])


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_neither_the_order_of_shards_nor_the_number_of_threads_is_seen(
    pair_run, pair_store, tmp_path
):
    (shard,) = pair_run[1].shards(PAIR_DELTA)
    with duckdb.connect(str(tmp_path / "other.duckdb"), config=file_config()) as store:
        store.execute("set threads = 4")
        halves = [tmp_path / f"{half}.parquet" for half in (1, 0)]
        for half, path in enumerate(reversed(halves)):
            store.execute(
                f"copy (from '{shard}' where seq % 2 = {half} order by hash(seq, layer, "
                f"source_pos, target_pos)) to '{path}'"
            )
        store.execute(
            "create schema stored; create table stored.run as select 2 as n_layers; "
            "create table stored.vocabulary as select range as token_id, '' as token from range(1)"
        )
        merge(store, PAIR_DELTA, halves, tmp_path / "merged.parquet")
        declare(store, [PAIR_DELTA])
        add_table(store, PAIR_DELTA, tmp_path / "merged.parquet")
        found = store.execute("from stored.pair_delta order by layer, source, target").df()
        in_order = store.execute("select layer, n from stored.pair_delta").df()
    expected = pair_store.execute("from pair_delta_wide order by layer, source, target").df()
    numbers = ["layer", "source", "target", "n", "n_sequences", "relation"]
    pd.testing.assert_frame_equal(found[numbers], expected[numbers])
    np.testing.assert_allclose(found[VALUES], expected[VALUES], rtol=2e-7, atol=1e-9)
    frequent_first = in_order.sort_values(["layer", "n"], ascending=[True, False], kind="stable")
    pd.testing.assert_frame_equal(in_order, frequent_first)


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_a_pair_that_stands_twice_is_told(pair_run, tmp_path):
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(pair_run[0].output.read_bytes())
    with duckdb.connect(str(copy)) as store:
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


LIST = ["layer", "effect", "amplified", "min_count", "relation"]


def _first(wide: pd.DataFrame, layer: int, effect: str, amplified: bool, least: int, relation: int):
    """One list from all pairs, sorted slowly."""
    rows = wide.assign(
        mean=wide[f"mean_{effect}"], std=wide[f"std_{effect}"], error=wide[f"error_{effect}"]
    )
    rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["relation"] == relation)]
    rows = rows[rows["mean"] > 0 if amplified else rows["mean"] < 0]
    rows = rows.assign(by=rows["mean"].abs())
    in_order = rows.sort_values(["by", "source", "target"], ascending=[False, True, True])
    columns = list(PAIR_EXTREME.values)
    return in_order[columns].reset_index(drop=True)


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_every_list_begins_with_what_changes_most(pair_store, monkeypatch):
    monkeypatch.setattr(changes, "KEPT", 7)
    wide = pair_store.execute("from pair_delta_wide").df()
    lists = dict(list(made(PAIR_EXTREME, pair_store).groupby(LIST, observed=True)))
    counts, relations = MIN_COUNTS, range(len(RELATIONS))
    for place in product((1, 2), EFFECTS, (True, False), counts, relations):
        expected = _first(wide, *place).head(7)
        rows = lists.pop(place, None)
        if rows is None:
            assert expected.empty
            continue
        assert rows["place"].tolist() == list(range(1, len(expected) + 1))
        pd.testing.assert_frame_equal(
            rows[list(expected)].reset_index(drop=True), expected, check_dtype=False
        )
    assert not lists


PLACES = ["seq", "source_pos", "target_pos"]
PAIR = ["layer", "effect", "source", "target"]


def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, pair_run, layer_order):
    """Pairs are those that a reader sees first in the lists by mean change."""
    wide, listed = pair_store.execute("from pair_delta_wide").df(), []
    ways = product(layer_order.effects, (1, 2), (1, -1), MIN_COUNTS, (True, False))
    for effect, layer, sign, least, special in ways:
        rows = wide.assign(by=-sign * wide[f"mean_{effect}"], effect=effect)
        rows = rows[(rows["layer"] == layer) & (rows["n"] >= least) & (rows["by"] < 0)]
        rows = rows if special else rows[rows["relation"] > 0]
        listed.append(rows.sort_values(["by", "source", "target"]).head(LIMIT)[PAIR])
    columns = ["layer", "source", "target", *PLACES]
    effects = list(layer_order.effects)
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


of_windows = pytest.mark.parametrize("family", ["gemma3_text"], indirect=True, scope="session")
"""Its first layer has a window, its second none."""


@of_windows
def test_a_layer_has_the_pairs_that_it_sees_and_correlates_those_that_occur_often(
    pair_store, pair_run, tiny
):
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
    pmi = pair_store.execute("from pair").df().set_index(["source", "target"])
    assert set(pmi.index) == set(second)
    often = pmi[(pmi["n"] >= 2) & ~pmi["has_special"]].index
    for layer, pairs in ((1, first), (2, second)):
        rows = pair_store.execute("from pair_delta_wide where layer = ?", [layer]).df()
        assert rows.set_index(["source", "target"])["n"].to_dict() == pairs
        n_pairs = pair_store.execute(
            "select distinct n_pairs from pair_pmi_correlation where layer = $layer "
            "and min_count = 2 and window_size is null",
            {"layer": layer},
        ).fetchall()
        assert n_pairs in ([], [(sum(pairs[key] >= 2 for key in often),)])


@pytest.fixture(scope="module")
def sampled(pair_run, tmp_path_factory) -> Iterator:
    """The same run with room for only the commonest pairs."""
    folder = tmp_path_factory.mktemp("sampled")
    bounds = Bounds(blocks=1, raw_rows=60)
    asked = replace(pair_run[0], output=folder / "tiny.duckdb", bounds=bounds)
    run(asked, run_local)
    with opened(asked.output) as store:
        yield asked, store


@of_windows
def test_a_file_of_the_commonest_pairs_is_sound(sampled):
    asked, store = sampled
    facts = provenance(store)
    assert least_count(facts) > 1, "this test could not have failed"
    assert list(faults(asked.output)) == []
    counts = store.execute("select max(n) from pair_delta_wide group by source, target").fetchall()
    assert min(counts)[0] >= least_count(facts)


def _relations(ids: list[int], words: list[int], segments: list[int]) -> list[list[str]]:
    rows = token_relations(np.array(ids), np.array(words), np.array(segments, dtype=np.uint8))
    assert (rows == rows.T).all()
    return [[RELATIONS[place] for place in row] for row in rows]


def test_the_first_relation_that_fits_is_taken():
    # [CLS] det ##our a det [SEP] b b
    named = _relations([101, 7, 8, 9, 7, 102, 5, 5], [-1, 0, 0, 1, 2, -1, 3, 3], [0] * 6 + [1] * 2)
    assert named[1] == [
        "special",
        "same_word",
        "word_pieces",
        "same_segment",
        "same_word",
        "special",
        "other_segment",
        "other_segment",
    ]
    assert named[2][3] == named[3][2] == "adjacent"
    assert named[6][7] == "same_word"  # pieces of one word, side by side
    assert named[0][5] == named[0][0] == "special"
    assert _relations([1, 2], [0, 1], [0, 1])[0][1] == "adjacent"


def _drawn(n_sequences: int) -> Redraws:
    return redraws(np.arange(n_sequences), seed=0)


def test_a_ratio_is_that_of_the_means_over_sequences_with_both_shares():
    shares = np.array([0.2, 0.4, np.nan, 0.9])[:, None]
    before = np.array([0.1, 0.3, 0.5, np.nan])[:, None]
    assert mean_ratios(shares, before, _drawn(4))[0] == pytest.approx([0.6 / 0.4])


def test_a_relation_that_holds_nothing_before_has_no_ratio():
    before = np.stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.25)], axis=1)
    for _ in range(3):  # memory that nothing was written to may hold anything
        for ends in mean_ratios(np.full((30, 3), 0.5), before, _drawn(30)):
            assert np.isnan(ends).tolist() == [True, True, False]
            assert ends[2] == 2
