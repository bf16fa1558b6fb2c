"""A corpus of more sequences than there are blocks, and of more rows than a file may have.

The limits are a dozen blocks and some hundred rows, so that a small corpus is a large one.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from analysis.statistics.corpus import CORPUS, Sample, least_count, provenance, samples
from analysis.statistics.mixing import WORST
from precompute.jobs.bounds import Bounds
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.passes import STATISTICS
from precompute.run import run
from precompute.store.check import faults
from tests.shared_store import shared_store
from tests.small_store import request

BLOCKS, ROWS = 12, 300
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
"""What is made of all numbers at once, and so of the sequences in the sample alone."""
MOVED = ("low", "high")
"""How columns end that depend on which sequences are redrawn together."""
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
    return run(replace(asked, output=folder / FILE, bounds=Bounds(BLOCKS, ROWS)), run_local)


@pytest.fixture
def file(sampled: Plan) -> Path:
    return sampled.folder.parent / FILE


@pytest.fixture
def stores(whole: Path, file: Path) -> Iterator[Stores]:
    """The whole file and the one with a sample."""
    with (
        duckdb.connect(str(whole), read_only=True) as whole_store,
        duckdb.connect(str(file), read_only=True) as part,
    ):
        yield whole_store, part


def facts_of(store: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return provenance(store)


def sizes(store: duckdb.DuckDBPyConnection, table: str) -> dict[int, int]:
    """Number of rows of each sequence."""
    counts = store.execute(f"select seq, count(*) from stored.{table} group by seq order by seq")
    return dict(counts.fetchall())


def test_means_count_every_sequence(stores, file):
    """In a sound file; heads or pairs that are chosen by halves may vary."""
    assert list(faults(file)) == []
    for name, of in STATISTICS.items():
        chosen = name in ("pair_occurrence", "pair_extreme", "pair", "pair_pmi_correlation")
        if name in CHOSEN + OF_WORDS and of.made_by and not chosen:
            key = ", ".join(f'"{column.name}"' for column in of.key)
            whole, part = (
                store.execute(f"from stored.{name} order by {key}").df() for store in stores
            )
            kept = [column for column in whole if not column.endswith(MOVED)]
            pd.testing.assert_frame_equal(whole[kept], part[kept], rtol=1e-9, atol=1e-12, obj=name)


def test_kinds_of_attention_are_found_among_the_sequences_in_the_sample(stores):
    whole, part = stores
    sample = samples(facts_of(part))["relative_position_profile"]
    heads = "select count(distinct (layer, head)) from stored.relative_position_profile"
    for store, n_sequences in ((whole, sample.of), (part, sample.kept)):
        [(n_heads,)] = store.execute(heads).fetchall()
        counts = (
            "select k, sum(n) from (select distinct k, cluster, n from relative_position_centre) "
            "group by k"
        )
        assert {n for _, n in store.execute(counts).fetchall()} == {n_sequences * n_heads}
    shares = part.execute("select share * $1 from stored.relative_position_cluster", [sample.kept])
    assert all(abs(share - round(share)) < 1e-9 for (share,) in shares.fetchall())


def test_a_sample_is_of_whole_sequences_with_their_text_and_says_how_many(stores, sampled):
    whole, part = stores
    texts = {seq for (seq,) in part.execute("select seq from sequence where text <> ''").fetchall()}
    kept = samples(facts_of(part))
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
        assert sum(after.values()) <= ROWS or len(after) == 1, table.name
        assert table.raw_rows or len(after) <= BLOCKS, table.name
        if table.name not in ("word", "mention"):
            expected = Sample(len(after), len(before)) if after != before else None
            assert kept.get(table.name) == expected, table.name


def test_lengths_and_completeness_are_of_all_sequences(stores):
    lengths = "select seq, n_tokens from sequence order by seq"
    for rows in (lengths, WORST, "from completeness order by layer"):
        whole, part = (store.execute(rows).df() for store in stores)
        pd.testing.assert_frame_equal(whole, part)
    _, part = stores
    assert max(sizes(part, "completeness").values()) <= 2
    rows = part.execute("select count(*) from stored.completeness where layer = 1").fetchall()
    assert rows[0][0] <= BLOCKS


def test_pairs_that_do_not_fit_are_the_rarest_and_the_others_are_as_they_were(stores):
    whole, part = stores
    least = least_count(facts_of(part))
    rows = "from pair_delta_wide where n >= {} order by layer, source, target"
    assert part.execute(rows.format(1)).fetchall() == whole.execute(rows.format(least)).fetchall()
    counts = "select count(*) from pair_delta_wide where n >= {}"
    [(n_here,)] = part.execute(counts.format(1)).fetchall()
    rarer = f"(select max(n) from pair_delta_wide where n < {least})"
    [(n_more,)] = whole.execute(counts.format(rarer)).fetchall()
    assert n_here <= ROWS < n_more or least == 1
    of_pair = "select source, target, n, pmi, relation from pair where n >= {} order by all"
    assert (
        part.execute(of_pair.format(1)).fetchall()
        == whole.execute(of_pair.format(least)).fetchall()
    )
