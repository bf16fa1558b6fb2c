"""Pairs of the corpus, their changes and relations, and what is listed, counted one by one."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.measures.bootstrap import LEAST_UNITS, Redraws, redraws
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.token_relation import mean_ratios, relation_changes, token_relations
from analysis.scopes import EFFECTS, POST_NORM, RELATIONS, SHARED_EFFECTS
from analysis.statistics.corpus import least_count, provenance
from analysis.statistics.pairs import changes
from analysis.statistics.pairs.changes import KEPT, LIMIT, MIN_COUNTS, PAIR_DELTA, PAIR_EXTREME
from analysis.statistics.pairs.relations import SEQUENCE_RELATION_CHANGE
from precompute.jobs.bounds import Bounds
from precompute.jobs.runner import run_local
from precompute.jobs.tables import merge
from precompute.run import run
from precompute.store.build import add_table, declare, file_config
from precompute.store.check import assert_unique, faults
from precompute.store.show import opened
from tests.statistics.fits import made
from tests.tiny import BOTH_WAYS
from tests.tracing import layers_of, rows_of_table

Words = list[int | None]
PlacesOfPairs = dict[tuple[int, int], list[tuple[int, int, int]]]


def slow_pmi(
    sequences: list[Words], *, causal: bool, window: int | None = None
) -> dict[tuple[int, int], float]:
    """church-1990: log2 p(source, target) / (p(source) p(target)), exact, so that ties are ties."""
    pairs = [both for words in sequences for both, _ in places(words, causal=causal, window=window)]
    n, together = len(pairs), Counter(pairs)
    sides = [Counter(both[side] for both in pairs) for side in (0, 1)]
    return {
        both: math.log2(Fraction(count * n, sides[0][both[0]] * sides[1][both[1]]))
        for both, count in together.items()
    }


def places(
    words: Words, *, causal: bool, window: int | None = None
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Source and target of every occurrence of a pair, and positions of target and source."""
    return [
        ((source, target), (i, j))
        for i, target in enumerate(words)
        for j, source in enumerate(words)
        if (j < i if causal else j != i)
        and source is not None
        and target is not None
        and (window is None or abs(i - j) <= window)
    ]


@pytest.mark.parametrize(
    ("n", "kind"), [(2_000_000_000, np.int32), (4_000_000_000, np.int64), (2**40, np.int64)]
)
def test_counts_of_a_large_corpus_do_not_overflow(n, kind):
    counts = np.array([n], dtype=kind)
    assert pointwise_mutual_information(counts, counts, counts, n).tolist() == [0]


@pytest.fixture(scope="module")
def together(pair_run, is_causal) -> PlacesOfPairs:
    """Places of every two tokens of one sequence: sequence, positions of source and target."""
    found: PlacesOfPairs = {}
    for sequence in pair_run[1].corpus:
        ids = sequence.ids.tolist()
        for target_pos, target in enumerate(ids):
            for source_pos, source in enumerate(ids):
                if source_pos < target_pos or (source_pos > target_pos and not is_causal):
                    place = (sequence.index, source_pos, target_pos)
                    found.setdefault((source, target), []).append(place)
    return found


def test_every_pair_has_its_counts_and_its_relation_in_both_tables(pair_store, pair_run, together):
    relations = {
        text.index: token_relations(text.ids, text.words, text.segments)
        for text in pair_run[1].corpus
    }
    rows = pair_store.execute(
        "select source, target, n, n_sequences, relation, relation_share, has_special from pair"
    ).fetchall()
    assert {row[:2] for row in rows} == set(together)
    for source, target, n, n_sequences, relation, share, has_special in rows:
        where = together[source, target]
        assert (n, n_sequences) == (len(where), len({seq for seq, *_ in where}))
        counts = Counter(RELATIONS[relations[seq][i, j]] for seq, j, i in where)
        assert relation == max(RELATIONS, key=lambda name: counts[name])
        assert share == pytest.approx(counts[relation] / n)
        assert has_special == (counts["special"] > 0)
    different = pair_store.execute(
        "select count(*) from pair "
        "full join pair_delta_wide using (n, n_sequences, source, target) "
        "where relation_share is null or mean_ff is null "
        "or list_position($relations, pair.relation) <> pair_delta_wide.relation + 1",
        {"relations": list(RELATIONS)},
    ).fetchall()
    assert different == [(0,)]


def test_pmi_is_over_words_alone(pair_store, pair_words, is_causal):
    """Special and masked tokens are not counted and have none."""
    expected = slow_pmi(pair_words, causal=is_causal)
    rows = pair_store.execute("select source, target, pmi, has_special from pair").fetchall()
    of_words = {(source, target): pmi for source, target, pmi, special in rows if not special}
    assert of_words == pytest.approx(expected, abs=1e-6)
    assert len(of_words) < len(rows) or not any(None in words for words in pair_words)
    assert all(pmi is None for _, _, pmi, special in rows if special)


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


@pytest.mark.parametrize(("family", "kept"), [("bert", 7), ("gpt2", KEPT)], indirect=["family"])
def test_every_list_begins_with_what_changes_most(pair_store, monkeypatch, kept):
    monkeypatch.setattr(changes, "KEPT", kept)
    wide = pair_store.execute("from pair_delta_wide").df()
    lists = dict(list(made(PAIR_EXTREME, pair_store).groupby(LIST, observed=True)))
    counts, relations = MIN_COUNTS, range(len(RELATIONS))
    for place in product((1, 2), EFFECTS, (True, False), counts, relations):
        expected = _first(wide, *place).head(kept)
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


def test_all_occurrences_of_listed_pairs_are_stored_once(pair_store, occurrences, layer_order):
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
    every = occurrences.melt(columns, effects, var_name="effect", value_name="delta")
    expected = every.merge(pd.concat(listed).drop_duplicates())
    found = pair_store.execute("from pair_occurrence").df().astype({"effect": str})
    columns = [*PAIR, *PLACES, "delta"]
    found, expected = (rows[columns].sort_values(columns[:-1]) for rows in (found, expected))
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), expected.reset_index(drop=True), check_dtype=False
    )
    assert 0 < len(expected) < len(every)


windowed = pytest.mark.parametrize(
    "family", ["gemma3_text", "modernbert"], indirect=True, scope="session"
)


@pytest.fixture(scope="module")
def windows(tiny) -> dict[int, int]:
    """Windows of all layers; more than any text is long where there is none."""
    return {n: layer.window or 10**6 for n, layer in enumerate(tiny.layers, start=1)}


@pytest.fixture(scope="module")
def seen(together, windows) -> dict[int, PlacesOfPairs]:
    """The pairs of every layer, with the places that are inside of its window."""
    inside = {
        layer: {
            key: [place for place in places if abs(place[1] - place[2]) <= window]
            for key, places in together.items()
        }
        for layer, window in windows.items()
    }
    return {layer: {k: v for k, v in pairs.items() if v} for layer, pairs in inside.items()}


@windowed
def test_a_layer_has_the_pairs_that_it_sees_and_correlates_those_that_occur_often(
    pair_store, together, seen
):
    pmi = pair_store.execute("from pair").df().set_index(["source", "target"])
    assert set(pmi.index) == set().union(*seen.values())
    assert any(set(pairs) < set(together) for pairs in seen.values()), "this test could not fail"
    for layer, pairs in seen.items():
        rows = pair_store.execute("from pair_delta_wide where layer = ?", [layer]).df()
        counted = rows.set_index(["source", "target"])["n"].to_dict()
        assert counted == {key: len(places) for key, places in pairs.items()}
        often = pmi[(pmi["n"] >= 2) & ~pmi["has_special"]].index
        n_pairs = pair_store.execute(
            "select distinct n_pairs from pair_pmi_correlation where layer = $layer "
            "and min_count = 2 and window_size is null",
            {"layer": layer},
        ).fetchall()
        assert n_pairs in ([], [(sum(counted.get(key, 0) >= 2 for key in often),)])


@pytest.fixture(scope="module")
def sampled(pair_run, tmp_path_factory) -> Iterator:
    """The same run with room for only the commonest pairs."""
    folder = tmp_path_factory.mktemp("sampled")
    bounds = Bounds(blocks=1, raw_rows=60)
    asked = replace(pair_run[0], output=folder / "tiny.duckdb", bounds=bounds)
    run(asked, run_local)
    with opened(asked.output) as store:
        yield asked, store


@pytest.mark.parametrize("family", ["gemma3_text"], indirect=True, scope="session")
def test_a_file_of_the_commonest_pairs_is_sound(sampled):
    asked, store = sampled
    facts = provenance(store)
    assert least_count(facts) > 1, "this test could not have failed"
    assert list(faults(asked.output)) == []
    counts = store.execute("select max(n) from pair_delta_wide group by source, target").fetchall()
    assert min(counts)[0] >= least_count(facts)


def slow_changes(
    before: list[list[float]], after: list[list[float]], relations: np.ndarray, seen: np.ndarray
) -> dict[str, tuple[int, float, float, float]]:
    """Sums by relation: pairs, Σ share before, Σ |δ|, Σ of the δ above 0."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
    for query, key in product(range(len(before)), repeat=2):
        if query != key and seen[query, key]:
            held, then = (norms[query][key] / sum(norms[query]) for norms in (before, after))
            change = then - held
            sums[RELATIONS[relations[query, key]]] += (1, held, abs(change), max(change, 0))
    return {name: tuple(of_relation) for name, of_relation in sums.items()}


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


@pytest.mark.parametrize(
    "family", [*BOTH_WAYS, "gemma2", "gpt_neox"], indirect=True, scope="session"
)
def test_changes_follow_the_maps_before_and_after_each_effect(tiny, sequences, layer_order):
    rows = rows_of_table(SEQUENCE_RELATION_CHANGE, tiny, sequences).to_pandas()
    found = {tuple(row[:4]): row[4:] for row in rows.itertuples(index=False, name=None)}
    assert len(found) == len(rows)
    for layer, (number, sequence) in product(layers_of(tiny, sequences), enumerate(sequences)):
        norms = dict(
            zip(layer_order.scopes, layer.mixing[number].maps.double().tolist(), strict=True)
        )
        relations, seen = layer.batch.relations[number], layer.weights.pairs(len(sequence)).numpy()
        for effect, (before, after) in layer_order.effects.items():
            expected = slow_changes(norms[before], norms[after], relations, seen)
            for relation, numbers in expected.items():
                row = found.pop((layer.weights.number, effect, relation, sequence.index))
                assert row == pytest.approx(numbers, rel=1e-4, abs=1e-6)
    assert not found


def test_of_one_token_no_change_is_put_down_to_a_relation():
    maps = np.ones((len(POST_NORM.scopes), 1, 1))
    relations, seen = np.zeros((1, 1), dtype=np.int8), np.ones((1, 1), dtype=bool)
    n, sums = relation_changes(maps, POST_NORM, relations, seen)
    assert n.sum() == sums.sum() == 0
    assert sums.shape == (3, len(POST_NORM.effects), len(RELATIONS))


@pytest.fixture(scope="module")
def shares(pair_store) -> dict[tuple[int, str, str], list[dict[str, float | None]]]:
    """Shares of the relations of every sequence with something to share, by quantity.

    Sequences without mixing before the step have None.
    """
    amounts: dict = defaultdict(lambda: defaultdict(dict))
    rows = pair_store.execute("from sequence_relation_change order by all").fetchall()
    for layer, effect, relation, seq, n, before, change, gain in rows:
        quantities = (n, before, change, gain, change - gain)
        names = ("pairs", "before", "change", "gain", "loss")
        for name, amount in zip(names, quantities, strict=True):
            amounts[layer, effect, name][seq][relation] = amount
    return {cell: list(map(_shares, of.values())) for cell, of in amounts.items()}


def _shares(amounts: dict[str, float]) -> dict[str, float | None]:
    total = sum(amounts.values())
    return {name: amount / total if total else None for name, amount in amounts.items()}


def test_shares_and_ratios_are_means_over_sequences_in_which_there_is_something_to_share(
    pair_store, shares
):
    rows = pair_store.execute("from relation_share").df()
    filled = {cell for cell, of in shares.items() if any(None not in s.values() for s in of)}
    assert set(zip(rows["layer"], rows["effect"], rows["quantity"], strict=True)) == filled
    assert rows[["ratio_low", "ratio_high"]].isna().all(axis=None)  # fewer than 10 sequences
    for row in rows.itertuples():
        here, before = (
            [of.get(row.relation, 0) for of in shares[row.layer, row.effect, name]]
            for name in (row.quantity, "before")
        )
        of = [share for share in here if share is not None]
        assert row.mean == pytest.approx(np.mean(of), rel=1e-9)
        assert row.n_sequences == len(of)
        both = [pair for pair in zip(here, before, strict=True) if None not in pair]
        above, below = np.sum(np.array(both, dtype=float), axis=0)
        is_compared = below > 0 and row.quantity not in ("pairs", "before")
        assert row.ratio == pytest.approx(above / below if is_compared else np.nan, nan_ok=True)
    of_all = rows.groupby(["layer", "effect", "quantity"], observed=True)["mean"].sum()
    np.testing.assert_allclose(of_all, 1)


def _drawn(n_sequences: int) -> Redraws:
    return redraws(np.arange(n_sequences), seed=0)


def test_a_ratio_is_that_of_the_means_over_sequences_with_both_shares():
    shares = np.array([0.2, 0.4, np.nan, 0.9])[:, None]
    before = np.array([0.1, 0.3, 0.5, np.nan])[:, None]
    assert mean_ratios(shares, before, _drawn(4))[0] == pytest.approx([0.6 / 0.4])


@pytest.mark.parametrize("n", [LEAST_UNITS - 1, LEAST_UNITS])
def test_too_few_sequences_have_a_ratio_and_no_interval(n):
    values = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, n, 1))
    ratio, low, high = mean_ratios(values[0], values[1], _drawn(n))
    assert np.isfinite(ratio).all()
    assert np.isfinite([low, high]).all() == (n >= LEAST_UNITS)


def test_a_relation_that_holds_nothing_before_has_no_ratio():
    before = np.stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.25)], axis=1)
    for _ in range(3):  # memory that nothing was written to may hold anything
        for ends in mean_ratios(np.full((30, 3), 0.5), before, _drawn(30)):
            assert np.isnan(ends).tolist() == [True, True, False]
            assert ends[2] == 2
