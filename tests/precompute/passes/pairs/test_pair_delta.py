from dataclasses import replace
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.measures.pairs.pair_delta import LEAST_SEQUENCES
from analysis.scopes import EFFECTS, SHARED_EFFECTS
from analysis.statistics.pairs import pair_delta
from precompute.corpora.index import write as index
from precompute.jobs import plan as planning
from precompute.jobs.runner import run_local
from precompute.jobs.tables import merge
from precompute.passes.batch import Batch
from precompute.passes.pairs.pair_delta import totals
from precompute.run import run
from precompute.store.build import add_table, file_config
from precompute.store.check import assert_unique
from tests.reference.pairs import pair_delta as reference
from tests.tools.benchmarks.pair_intervals import covered, intervals, stored

VALUES = [f"{kind}_{effect}" for kind, effect in product(("mean", "std", "error"), SHARED_EFFECTS)]
VALUES.append("degrees")


@pytest.fixture(scope="module")
def slow(slow_deltas, is_causal) -> dict[tuple[int, str], dict[tuple[int, int], reference.Average]]:
    return {
        place: reference.averages(sequences, causal=is_causal)
        for place, sequences in slow_deltas.items()
    }


def test_every_pair_has_the_average_of_all_its_occurrences(pair_store, slow):
    for (layer, effect), averages in slow.items():
        rows = pair_store.execute(
            f"select source, target, n, n_sequences, mean_{effect}, std_{effect}, "
            f"error_{effect}, degrees from pair_delta_wide where layer = $layer",
            {"layer": layer},
        ).fetchall()
        assert {row[:2] for row in rows} == set(averages)
        for source, target, n, n_sequences, mean, std, error, degrees in rows:
            expected = averages[source, target]
            assert (n, n_sequences) == (expected.n, expected.n_sequences)
            assert mean == pytest.approx(expected.mean, abs=2e-6)
            assert std == (pytest.approx(expected.std, abs=2e-6) if n > 1 else None)
            several = n_sequences >= LEAST_SEQUENCES
            assert error == (pytest.approx(expected.error, abs=2e-6) if several else None)
            assert degrees == (pytest.approx(expected.degrees, rel=1e-5) if several else None)


def test_all_pairs_of_two_places_are_counted(pair_store, is_causal):
    lengths = pair_store.execute("select n_tokens from sequence").fetchnumpy()["n_tokens"]
    n_ordered = (lengths.astype(int) * (lengths - 1)).sum()
    sums = pair_store.execute("select sum(n) from pair_delta_wide group by layer").fetchall()
    assert sums == [(n_ordered // (2 if is_causal else 1),)] * 2


def test_a_step_that_the_layers_do_not_have_is_null_and_never_0(pair_store, layer_order):
    for effect in EFFECTS:
        filled = pair_store.execute(
            f"select count(mean_{effect}), count(std_{effect}), count(*) filter (n > 1), count(*) "
            "from pair_delta_wide"
        ).fetchall()[0]
        assert filled[:2] == (filled[3:1:-1] if effect in layer_order.effects else (0, 0))
    assert pair_store.execute("select distinct effect from pair_delta order by 1").fetchall() == [
        (effect,) for effect in sorted(layer_order.effects)
    ]


def test_the_view_of_readers_has_every_effect_and_names_tokens(pair_store, layer_order):
    found = pair_store.execute("from pair_delta_interval where layer = 1").df()
    wide = pair_store.execute("from pair_delta_wide where layer = 1").df()
    names = pair_store.execute("from vocabulary").df().set_index("token_id")["token"]
    for effect in layer_order.effects:
        rows = wide.assign(source=wide["source"].map(names), target=wide["target"].map(names))
        numbers = [f"{kind}_{effect}" for kind in ("mean", "std", "error")]
        expected = rows[["source", "target", "n", "n_sequences", *numbers, "degrees"]]
        of_effect = found[found["effect"] == effect].drop(columns=["layer", "effect"])
        expected = expected.set_axis(of_effect.columns, axis=1)
        by = ["source", "target"]
        pd.testing.assert_frame_equal(
            of_effect.sort_values(by, ignore_index=True),
            expected.sort_values(by, ignore_index=True),
            check_dtype=False,
        )


def _stored(path: Path, table: str) -> pd.DataFrame:
    with duckdb.connect(str(path), read_only=True) as store:
        return store.execute(f"from stored.{table} order by all").df()


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_any_cut_of_the_corpus_gives_the_same_numbers(pair_run, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "JOB_SEQUENCES", 1)
    monkeypatch.setattr(planning, "BATCH_PAIRS", 1)
    whole, cut = pair_run[0].output, tmp_path / "tiny.duckdb"
    run(replace(pair_run[0], output=cut), run_local)
    for table in ("pair_delta", "pair", "vocabulary"):
        pd.testing.assert_frame_equal(_stored(whole, table), _stored(cut, table), atol=2e-6)
    ids = ["layer", "effect", "seq", "source_pos", "target_pos"]
    listed = (set(_stored(path, "pair_occurrence")[ids].itertuples()) for path in (whole, cut))
    assert len(set.symmetric_difference(*listed)) == 0


@pytest.mark.parametrize("threads", [1, 4])
def test_neither_the_order_of_shards_nor_the_number_of_threads_is_seen(
    pair_run, pair_store, tmp_path, threads
):
    plan = pair_run[1]
    (shard,) = plan.shards(planning.BY_NAME["pair_delta"])
    with duckdb.connect(str(tmp_path / "other.duckdb"), config=file_config()) as store:
        store.execute(f"set threads = {threads}")
        halves = [str(tmp_path / f"{half}.parquet") for half in (1, 0)]
        for half, path in enumerate(reversed(halves)):
            store.execute(
                f"copy (from '{shard}' where seq % 2 = {half} order by hash(seq, layer, "
                f"source_pos, target_pos)) to '{path}'"
            )
        store.execute("create schema stored; create table stored.vocabulary as from range(1)")
        store.execute("create table stored.run as select 2 as n_layers")
        store.execute("alter table stored.vocabulary add column token varchar")
        store.execute("alter table stored.vocabulary rename column range to token_id")
        merge(store, pair_delta.TABLE, [Path(path) for path in halves], tmp_path / "merged.parquet")
        add_table(store, pair_delta.TABLE, tmp_path / "merged.parquet")
        found = store.execute("from stored.pair_delta order by layer, source, target").df()
        in_order = store.execute("select layer, n from stored.pair_delta").df()
    expected = pair_store.execute("from pair_delta_wide order by layer, source, target").df()
    numbers = ["layer", "source", "target", "n", "n_sequences", "relation"]
    pd.testing.assert_frame_equal(found[numbers], expected[numbers])
    np.testing.assert_allclose(found[VALUES], expected[VALUES], rtol=2e-7, atol=1e-9)
    frequent_first = in_order.sort_values(["layer", "n"], ascending=[True, False], kind="stable")
    pd.testing.assert_frame_equal(in_order, frequent_first)


def test_a_sequence_of_one_token_has_no_pairs(tiny, sequences):
    arrays = ("ids", "segments", "token_types", "words", "masked", "tokens")
    alone = replace(sequences[0], **{name: getattr(sequences[0], name)[:1] for name in arrays})
    assert totals(Batch((alone,), tiny.trace([alone]))).num_rows == 0


def test_a_pair_that_stands_twice_is_told(pair_run, tmp_path):
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(pair_run[0].output.read_bytes())
    with duckdb.connect(str(copy)) as store:
        assert_unique(store, pair_delta.TABLE)
        store.execute("insert into stored.pair_delta from stored.pair_delta limit 1")
        with pytest.raises(Exception, match=r"1 row\(s\) of pair_delta break `unique"):
            assert_unique(store, pair_delta.TABLE)


SIZES = ([1] * 3, [4] * 5, [1] * 30, [20, 10, 7], [30, 5, 2, 1, 1], [20, *[1] * 20])
"""How often a pair occurs in each of the sequences that have it."""


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_intervals_cover_what_they_promise_however_unevenly_pairs_are_spread(sizes, alike):
    """2,000 pairs whose true mean is 0; `alike` is the correlation within a sequence."""
    share, _ = covered("normal", sizes, alike)
    assert 0.93 <= share <= (0.97 if len(set(sizes)) == 1 else 1), share


def test_one_sequence_that_has_nearly_all_occurrences_leaves_no_interval():
    delta = np.random.default_rng(0).normal(size=(1, 52))
    low, high = intervals(stored(delta, np.repeat(np.arange(3), [50, 1, 1])))
    assert np.isnan([*low, *high]).all()
