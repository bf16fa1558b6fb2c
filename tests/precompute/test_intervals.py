"""Means over sequences as fits make them, and files with more sequences than they may hold."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.scopes import POST_NORM
from analysis.statistics.base import means as base_means
from analysis.statistics.base.means import Blocks
from analysis.statistics.base.tables import FitContext
from analysis.statistics.corpus import CORPUS, Sample, least_count, provenance, samples
from analysis.statistics.mixing import WORST
from precompute.jobs.plan import Bounds, Plan, block_of
from precompute.jobs.runner import run_local
from precompute.passes import STATISTICS
from precompute.run import run
from precompute.store.check import faults
from tests.shared_store import shared_store
from tests.small_store import fetched, request

ROWS = pd.DataFrame(
    {"seq": [7, 7, 2, 9], "scope": ["b", "a", "a", "b"], "share": [0.5, 0.25, 0.75, np.nan]}
)
ALONE = FitContext(seed=0, order=POST_NORM, frequency_ranks={})


def means_of(
    rows: pd.DataFrame,
    blocks: dict[int, int] | None = None,
    zero: frozenset[str] = frozenset(),
) -> pd.DataFrame:
    """Means of the shares of every scope; by default each sequence is a block."""
    of = blocks or {int(seq): int(seq) for seq in rows["seq"]}
    query = "select seq, scope as quantity, share as value from rows where {some}"
    with duckdb.connect() as store:
        store.register("rows", rows)
        store.register("blocks", pd.DataFrame({"seq": of.keys(), "block": of.values()}))
        return Blocks.of(store, "rows").means(store, query, ALONE, zero)


@pytest.mark.parametrize("size", [1, 3, 11])
@pytest.mark.parametrize("blocks", [None, {2: 0, 7: 0, 9: 1}])
def test_only_sequences_with_a_value_count_however_many_are_asked_at_a_time(
    blocks, size, monkeypatch
):
    monkeypatch.setattr(base_means, "SLICE", size)
    rows = means_of(ROWS, blocks)
    assert rows["quantity"].tolist() == ["a", "b"]
    assert rows["mean"].tolist() == [0.5, 0.5]
    assert rows["n_sequences"].tolist() == [2, 1]
    assert rows[["low", "high"]].isna().all(axis=None)
    assert means_of(ROWS.assign(share=np.nan)).empty
    rows = means_of(ROWS, {2: 0, 7: 0, 9: 1}, zero=frozenset({"b"}))
    assert rows["mean"].tolist() == [0.5, pytest.approx(0.5 / 3)]
    assert rows["n_sequences"].tolist() == [2, 1], "those that have it"


def test_intervals_of_blocks_are_close_to_those_of_sequences():
    """Means of a skewed quantity that half of the sequences have."""
    drawn = np.random.default_rng(0)
    values = np.where(drawn.random(6000) < 0.5, drawn.lognormal(size=6000), np.nan)
    rows = pd.DataFrame({"seq": range(6000), "scope": "a", "share": values})
    blocks = block_of(np.arange(6000, dtype=np.int32), 500)
    of_sequences, of_blocks = (
        means_of(rows, of).iloc[0] for of in (None, dict(enumerate(blocks.tolist())))
    )
    assert of_blocks["mean"] == pytest.approx(of_sequences["mean"], rel=1e-12)
    assert of_blocks["n_sequences"] == of_sequences["n_sequences"] == (~np.isnan(values)).sum()
    width = of_sequences["high"] - of_sequences["low"]
    assert of_blocks["high"] - of_blocks["low"] == pytest.approx(width, rel=0.1)
    assert [of_blocks["low"], of_blocks["high"]] == pytest.approx(
        [of_sequences["low"], of_sequences["high"]], abs=width / 10
    )


def test_single_tokens_mix_nothing_and_the_file_is_sound(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"tokens": [word]}) + "\n" for word in ("cat", "dog")))
    names = ["scope_similarity", "mixing_ratio", "relation_share", "rollout"]
    asked = replace(request(tmp_path, statistics=names), corpus=str(corpus))
    run(asked, run_local)
    assert list(faults(asked.output)) == []
    for empty in ("scope_similarity", "relation_share"):
        assert fetched(asked.output, f"from {empty}") == []
    assert fetched(asked.output, "select max(mean) < 1e-6 from mixing_ratio") == [(True,)]
    assert fetched(asked.output, "select distinct mean from rollout") == [(1,)]


BLOCKS, MOST_ROWS = 12, 300
FILE = "tiny.duckdb"
CHOSEN = [
    "completeness", "layer_completeness",
    "frequency_correlation", "ratio_frequency_correlation", "head_pattern",
    "head_pattern_difference", "mixing_ratio", "relation_share", "rollout", "scope_similarity",
    "token_type_mixing", "input_norm_dispersion", "value_norm_dispersion",
    "attention_norm_sample", "pair_occurrence", "pair_pmi_correlation", "exemplar_attention",
]  # fmt: skip
OF_WORDS = ["dependency_accuracy", "coreference_accuracy"]
OF_SAMPLE = ["relative_position_centre", "relative_position_cluster"]
"""Tables that are made of all numbers at once, and so of the sequences in the sample alone."""
MOVED = ("low", "high")
"""Ends of columns that depend on which sequences are redrawn together."""
Stores = tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of an annotated text of two dozen sequences."""
    return shared_store(tmp_path_factory, annotated=True)


@pytest.fixture(scope="module")
def sampled(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The same run with other limits, from copies of its shards."""
    folder = tmp_path_factory.mktemp("sampled")
    shutil.copytree(whole.parent / ".shards", folder / ".shards")
    names = CHOSEN + OF_SAMPLE + OF_WORDS
    asked = request(whole.parent, annotated=True, statistics=names)
    return run(replace(asked, output=folder / FILE, bounds=Bounds(BLOCKS, MOST_ROWS)), run_local)


@pytest.fixture
def stores(whole: Path, sampled: Plan) -> Iterator[Stores]:
    """The whole file and the one with a sample."""
    files = (whole, sampled.folder.parent / FILE)
    first, second = (duckdb.connect(str(file), read_only=True) for file in files)
    with first, second:
        yield first, second


def sizes(store: duckdb.DuckDBPyConnection, table: str) -> dict[int, int]:
    """Number of rows of each sequence."""
    counts = store.execute(f"select seq, count(*) from stored.{table} group by seq order by seq")
    return dict(counts.fetchall())


def test_means_count_every_sequence(stores, sampled):
    """In a sound file; heads or pairs that are chosen by halves may vary."""
    assert list(faults(sampled.folder.parent / FILE)) == []
    for name, of in STATISTICS.items():
        chosen = name in ("pair_occurrence", "pair_extreme", "pair", "pair_pmi_correlation")
        if name in CHOSEN + OF_WORDS and of.made_by and not chosen:
            key = ", ".join(f'"{column.name}"' for column in of.key)
            whole, part = (
                store.execute(f"from stored.{name} order by {key}").df() for store in stores
            )
            kept = [column for column in whole if not column.endswith(MOVED)]
            pd.testing.assert_frame_equal(whole[kept], part[kept], rtol=1e-9, atol=1e-12, obj=name)


def test_a_sample_is_of_whole_sequences_with_their_text_and_says_how_many(stores, sampled):
    whole, part = stores
    texts = {seq for (seq,) in part.execute("select seq from sequence where text <> ''").fetchall()}
    kept = samples(provenance(part))
    assert {"head_token", "token", "sequence_mixing_ratio"} <= {*kept}
    exemplars = part.execute("select distinct seq from exemplar_attention").fetchall()
    assert set() < {seq for (seq,) in exemplars} <= texts
    there = (*CORPUS, *sampled.passes)
    for table in (table for table in there if table.of_sequences and not table.per_block):
        if table.name in ("sequence", "image", "attention_norm_sample"):
            continue
        before, after = sizes(whole, table.name), sizes(part, table.name)
        assert {*after} <= texts, table.name
        if table.name == "pair_occurrence":  # of pairs that the other file need not list
            continue
        assert after.items() <= before.items(), table.name
        assert sum(after.values()) <= MOST_ROWS or len(after) == 1, table.name
        assert table.raw_rows or len(after) <= BLOCKS, table.name
        if table.name not in ("word", "mention"):
            expected = Sample(len(after), len(before)) if after != before else None
            assert kept.get(table.name) == expected, table.name


def test_lengths_and_completeness_are_of_all_sequences(stores):
    lengths = "select seq, n_tokens from sequence order by seq"
    for rows in (lengths, WORST, "from completeness order by layer"):
        whole, part = (store.execute(rows).df() for store in stores)
        pd.testing.assert_frame_equal(whole, part)


def test_pairs_that_do_not_fit_are_the_rarest_and_the_others_are_as_they_were(stores):
    whole, part = stores
    least = least_count(provenance(part))
    rows = "from pair_delta_wide where n >= {} order by layer, source, target"
    assert part.execute(rows.format(1)).fetchall() == whole.execute(rows.format(least)).fetchall()
    counts = "select count(*) from pair_delta_wide where n >= {}"
    [(n_here,)] = part.execute(counts.format(1)).fetchall()
    rarer = f"(select max(n) from pair_delta_wide where n < {least})"
    [(n_more,)] = whole.execute(counts.format(rarer)).fetchall()
    assert n_here <= MOST_ROWS < n_more or least == 1
