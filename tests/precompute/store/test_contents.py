"""Checksums of tables depend on each value, and the oldest supported DuckDB reads every view."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.statistics.corpus import MANIFEST, SEQUENCES
from precompute.store.build import _KEPT, add_table, declare
from tests.shared_store import shared_store

pytestmark = pytest.mark.slow


def _other(kind: str, column: str) -> str:
    """A value that is another than that of a column."""
    if kind == "BOOLEAN":
        return f"not {column}"
    if kind.endswith("[]"):
        return f"list_reverse(list_append({column}, {column}[1]))"
    if kind == "BLOB":
        return f"{column} || 'x'::blob"
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return f"coalesce({column}::varchar, '') || 'x'"
    if kind.startswith("TIMESTAMP"):
        return f"{column} + interval 1 second"
    return f"if({column} = 1, 2, 1)::{kind}"


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    whole = shared_store(tmp_path_factory)
    return Path(shutil.copy(whole, tmp_path_factory.mktemp("contents") / "copy.duckdb"))


def test_every_value_of_every_column_counts(path):
    unseen, looked_at = [], 0
    with duckdb.connect(str(path)) as store:
        store.execute("create schema changed")
        for table in (stored for stored in every_table() if stored != MANIFEST):
            expected = contents(store, table.name)["checksum"]
            described = store.execute(f"describe stored.{table.name}").fetchall()
            for column, kind, *_ in described if expected else ():
                name = f'"{column}"'
                changed = f"if(row_number() over () = 1, {_other(kind, name)}, {name})"
                found = store.execute(
                    f"select coalesce(bit_xor(hash(hash(row))), 0) from "
                    f"(select * replace ({changed} as {name}) from stored.{table.name}) as row"
                ).fetchall()[0][0]
                looked_at += 1
                if found == expected:
                    unseen.append(f"{table.name}.{column}")
    assert looked_at > 300
    assert unseen == []


def test_a_constant_that_becomes_another_in_all_rows_counts():
    """The hashes of an even number of rows change by the same bits, which cancel."""
    with duckdb.connect() as store:
        store.execute("create schema stored")
        store.execute("create table stored.both as select range as place, 36 as n from range(72)")
        before = contents(store, "both")
        store.execute("update stored.both set n = 37")
        assert contents(store, "both") != before


def test_a_file_keeps_of_a_text_what_its_tokens_may_have_come_from(tmp_path):
    rows = tmp_path / "sequence.parquet"
    with duckdb.connect() as store:
        store.execute("create schema stored; create table stored.run as select 3 as n_sequences")
        store.execute("create table texts as select unnest([0, 2])::int as seq")
        store.execute(
            "copy (select seq::int as seq, 2::int as n_tokens, repeat('語', 1000) as text "
            f"from range(3) as each(seq)) to '{rows}' (format parquet)"
        )
        declare(store, [SEQUENCES])
        add_table(store, SEQUENCES, rows, _KEPT[SEQUENCES])
        lengths = store.execute("select length(text) from stored.sequence order by seq").fetchall()
    assert lengths == [(128,), (None,), (128,)]


OLDEST = Path(sys.prefix) / "duckdb-1.4"
ASK = """
import duckdb, json, sys
store = duckdb.connect(sys.argv[1], read_only=True)
views = "select view_name from duckdb_views() where not internal order by view_name"
names = [name for (name,) in store.execute(views).fetchall()]
count = lambda name: store.execute(f'select count(*) from (select * from "{name}")').fetchone()[0]
print(json.dumps([duckdb.__version__, {name: count(name) for name in names}]))
"""


def _counts(path: Path, library: Path | None = None) -> tuple[str, dict[str, int]]:
    environment = os.environ | ({"PYTHONPATH": str(library)} if library else {})
    asked = subprocess.run(
        [sys.executable, "-c", ASK, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(asked.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not OLDEST.exists(), reason="`make test` installs DuckDB 1.4 beside the tests")
def test_duckdb_1_4_reads_every_view(tmp_path_factory):
    path = shared_store(tmp_path_factory, "bert")
    version, counts = _counts(path, OLDEST)
    assert version.startswith("1.4.")
    assert (duckdb.__version__, counts) == tuple(_counts(path))
    assert len(counts) > 60
