"""Change of mixing pair of positions by pair of positions, its averages and their intervals."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.scopes import EFFECTS, RELATIONS, SHARED_EFFECTS
from analysis.statistics.pairs.changes import PAIR_DELTA
from precompute.jobs.shards import as_stored
from precompute.jobs.tables import merge
from precompute.store.build import add_table, declare, file_config
from precompute.store.check import assert_unique
from tests.tiny import BOTH_WAYS
from tests.tracing import layers_of, rows_of_table, table_of

VALUES = [f"{kind}_{effect}" for kind, effect in product(("mean", "std", "error"), SHARED_EFFECTS)]
VALUES.append("degrees")
Matrix = list[list[float]]


def intervals(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the interval of every pair in one step of the layer."""
    return mean_interval(
        *(rows[name].to_numpy(float) for name in ("mean_ff", "error_ff", "degrees"))
    )


def stored(delta: np.ndarray, sequence: np.ndarray, relations: Any = 0) -> pd.DataFrame:
    """Rows that the store makes of the pairs.

    Args:
        delta: the change of every occurrence, a row per pair.
        sequence: sequence of each occurrence, sorted by sequence.
        relations: relation of each occurrence, as a place in RELATIONS.
    """
    n_pairs, n = delta.shape
    columns = dict.fromkeys(PAIR_DELTA.shard_schema.names, np.zeros(n_pairs * n, dtype=int))
    columns |= dict.fromkeys(EFFECTS, delta.ravel())
    first = np.r_[True, np.diff(sequence) > 0]
    columns |= {
        "seq": np.tile(sequence, n_pairs),
        "source": np.repeat(np.arange(n_pairs), n),
        "is_first": np.tile(first, n_pairs),
        "relation": np.broadcast_to(relations, delta.shape).ravel(),
    }
    return as_stored(PAIR_DELTA, table_of(PAIR_DELTA, **columns)).to_pandas()


def slow_deltas(before: Matrix, after: Matrix) -> Matrix:
    """kobayashi-2024, section 5.2: change of the share of every token in every other."""
    shares = [[[norm / sum(row) for norm in row] for row in norms] for norms in (before, after)]
    return [[a - b for b, a in zip(*rows, strict=True)] for rows in zip(*shares, strict=True)]


@pytest.mark.parametrize(
    "family", [*BOTH_WAYS, "gemma2", "gpt_neox"], indirect=True, scope="session"
)
def test_every_pair_of_positions_has_its_change_by_every_effect(tiny, sequences, layer_order):
    rows = rows_of_table(PAIR_DELTA, tiny, sequences).to_pandas()
    found = {(r.seq, r.layer, r.target_pos, r.source_pos): r for r in rows.itertuples()}
    assert len(found) == len(rows)
    for layer, (number, sequence) in product(layers_of(tiny, sequences), enumerate(sequences)):
        norms = dict(
            zip(layer_order.scopes, layer.mixing[number].maps.double().tolist(), strict=True)
        )
        deltas = {
            effect: slow_deltas(norms[before], norms[after])
            for effect, (before, after) in layer_order.effects.items()
        }
        seen = layer.weights.pairs(len(sequence)).fill_diagonal_(False)
        first: set[tuple[int, int]] = set()
        for target, source in seen.nonzero().tolist():
            row = found.pop((sequence.index, layer.weights.number, target, source))
            both = row.source, row.target
            assert both == (sequence.ids[source], sequence.ids[target])
            assert row.is_first == (both not in first)
            first.add(both)
            assert row.relation == layer.batch.relations[number][target, source]
            for effect in EFFECTS:
                given = deltas[effect][target][source] if effect in deltas else math.nan
                assert getattr(row, effect) == pytest.approx(given, abs=1e-6, nan_ok=True)
    assert not found


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
@pytest.mark.parametrize("threads", [1, 4])
def test_neither_the_order_of_shards_nor_the_number_of_threads_is_seen(
    pair_run, pair_store, tmp_path, threads
):
    (shard,) = pair_run[1].shards(PAIR_DELTA)
    with duckdb.connect(str(tmp_path / "other.duckdb"), config=file_config()) as store:
        store.execute(f"set threads = {threads}")
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


def test_the_most_frequent_relation_stands_with_a_pair_and_special_wherever_it_occurs():
    """Worked by hand: three pairs, the relations of their occurrences in turn."""
    rows = stored(np.zeros((3, 3)), np.arange(3), relations=[[2, 5, 5], [5, 5, 0], [4, 3, 1]])
    assert [RELATIONS[place] for place in rows["relation"]] == [
        "other_segment",
        "special",
        "same_word",
    ]


def test_sequences_of_one_size_have_the_textbook_error_and_degrees():
    """Then the mean is that of the sequences' means, whose spread alone counts."""
    clusters = np.random.default_rng(0).normal(size=(6, 4))
    row = stored(clusters.reshape(1, -1), np.repeat(np.arange(6), 4)).iloc[0]
    error = clusters.mean(axis=1).std(ddof=1) / np.sqrt(6)
    assert (row["error_ff"], row["degrees"]) == pytest.approx((error, 5), rel=1e-6)


def test_one_sequence_that_has_nearly_all_occurrences_leaves_no_interval():
    delta = np.random.default_rng(0).normal(size=(1, 52))
    low, high = intervals(stored(delta, np.repeat(np.arange(3), [50, 1, 1])))
    assert np.isnan([*low, *high]).all()


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
