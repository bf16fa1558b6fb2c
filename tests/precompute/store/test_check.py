"""Damaged files are told from sound ones, by laws, by checksums and by every supported DuckDB."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.errors import UserError
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.corpus import MANIFEST
from precompute.store.check import faults
from precompute.store.show import lines
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import manifest_of
from tests.tiny import BOTH_WAYS

_HOLD = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"


@contextmanager
def held_open(file: Path) -> Iterator[int]:
    """Hold a file open in a process of its own; yield the number of the process."""
    command = [sys.executable, "-c", _HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.communicate(b"\n")


@pytest.fixture
def copied(tmp_path_factory, tmp_path) -> Callable[[str], Path]:
    """A copy of a family's whole file, to be changed."""
    return lambda family: Path(
        shutil.copy(shared_store(tmp_path_factory, family), tmp_path / "copy.duckdb")
    )


@pytest.fixture
def store(copied) -> Path:
    return copied("bert")


def _found(path: Path) -> list[str]:
    return list(faults(path))


def _change(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def _accepted(path: Path, *statements: str) -> None:
    """Changes that the manifest agrees with, so that only the deeper checks can notice."""
    _change(path, *statements)
    _change(path, *map(manifest_of, set(re.findall(r"stored\.(\w+)", " ".join(statements)))))


@pytest.mark.parametrize("family", BOTH_WAYS)
def test_a_sound_file_has_no_faults(copied, family):
    assert _found(copied(family)) == []


def test_a_file_that_another_process_writes_to_is_locked_and_not_damaged(store):
    with held_open(store) as writer:
        (fault,) = _found(store)
        assert fault == refused(UserError, lambda: list(lines(store)))
    assert fault.startswith(f"{store} is locked by a program that is writing to it. Wait until ")
    assert f"(PID {writer})" in fault
    assert _found(store) == []


def test_a_flipped_byte_anywhere_in_the_data_is_told(store):
    """Every block that holds data carries a checksum; headers and free space need not be read."""
    whole = store.read_bytes()
    noticed = 0
    for place in range(20_000, len(whole) - 4096, len(whole) // 6):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        store.write_bytes(damaged)
        noticed += bool(_found(store))
    assert noticed >= 5


BEHIND = {
    "delete from stored.token_norm where layer = 1 and pos = 0": "Its table token_norm is not what "
    "it was when the file was built. Build it",
    "update stored.singular_value set value = value + 1 where rank = 1 and head = 1": "singular_"
    "value: ",
    f"update stored.run set schema_version = {SCHEMA_VERSION + 1}": "schema version "
    f"{SCHEMA_VERSION + 1}; this version of Mixscope reads {SCHEMA_VERSION}. Build the file again "
    "with this version.",
}
"""Changes that the manifest does not agree with, and what is said of them."""
ADDED_UP = {
    "update stored.completeness set relative_error = 0.01 where seq = 1": "Sequence 1, layer 1: "
    "the parts of the attention block at position ",
    "update stored.layer_completeness set relative_error = 'nan' where seq = 2": "Sequence 2, "
    "layer 1: the parts of the whole layer at position ",
    "update stored.provenance set name = 'x' where name = 'model.weights'": "1 group(s) break the "
    "law that the file has all settings of its model",
}
"""Changes that it agrees with."""


@pytest.mark.parametrize("change", BEHIND | ADDED_UP)
def test_a_changed_file_is_told(store, change):
    if change in ADDED_UP:
        _accepted(store, change)
        assert any(ADDED_UP[change] in fault for fault in _found(store))
    else:
        _change(store, change)
        [fault] = _found(store)
        assert BEHIND[change] in fault


CAUSAL = "a causal model has no pair whose key is behind its query"
COMES = "all that has come together in a token comes from some type and some distance"
ORDER = "layers are seen at the scopes and in the steps of their order"
LAWS = [
    (
        "bert",
        {
            "attention received in a sequence adds up to its number of tokens": "head_token set "
            "attention_received = attention_received * 2 where layer = 1 and head = 1 and pos = 0",
            "shares of norms received in a sequence add up to its number of tokens": "head_token "
            "set norm_share_received = 1 + norm_share_received where layer = 1 and head = 2",
            "token types share all norms": "token_type_mixing set mean = mean / 2 "
            "where quantity = 'norm_share' and head = 1",
            "the histogram of every head counts every pair": "attention_norm_histogram "
            "set n = n + 1 where layer = 1 and head = 1",
            "the pairs of every layer occur as often as two tokens stand in one sequence": "pair_"
            "delta set n = n + 1 where layer = 1",
            "relations share all pairs and all change": "relation_share set mean = mean / 2 "
            "where layer = 1 and effect = 'ff'",
            "tokens of all types make up the mixing ratio's tokens": "mixing_ratio set n = n + 1 "
            "where token_type = 'all'",
        },
    ),
    (
        "bert",
        {
            "every head has every token": "head_token set head = 1 "
            "where layer = 2 and head = 2 and seq = 0 and pos = 1",
            COMES: "rollout set mean = mean / 2 where token_type = 'cls' and layer = 2",
        },
    ),
    ("bert", {"the tokens of a sequence number its n_tokens": "token set seq = 2 where seq = 1"}),
    (
        "gpt2",
        {
            CAUSAL: "attention_norm_sample set key_pos = query_pos + 1 where layer = 1",
            ORDER: "provenance set value = 'post_norm' where name = 'layer_order'",
            "the first token of a causal model is of type first, unless it is special or masked": ""
            "token set token_type = 'first' where pos = 1",
        },
    ),
    (
        "gpt2",
        {
            CAUSAL: "pair_occurrence set source_pos = target_pos + 1 where layer = 1",
            ORDER: "pair_delta set mean_ff_ln = 0, std_ff_ln = if(n = 1, null, 0)",
        },
    ),
]
"""Updates of one copy by the laws that they break, which do not meet."""


@pytest.mark.parametrize(("family", "laws"), LAWS)
def test_numbers_that_do_not_agree_with_each_other_or_the_model_are_told(copied, family, laws):
    path = copied(family)
    _accepted(path, *(f"update stored.{change}" for change in laws.values()))
    found = "\n".join(_found(path))
    assert [law for law in laws if f"break the law that {law}." not in found] == []


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
def whole_copy(tmp_path_factory) -> Path:
    whole = shared_store(tmp_path_factory)
    return Path(shutil.copy(whole, tmp_path_factory.mktemp("contents") / "copy.duckdb"))


def test_every_value_of_every_column_counts(whole_copy):
    unseen, looked_at = [], 0
    with duckdb.connect(str(whole_copy)) as store:
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


OLDEST = Path(sys.prefix) / "duckdb-1.4"
ASK = """
import duckdb, json, sys
store = duckdb.connect(sys.argv[1], read_only=True)
views = "select view_name from duckdb_views() where not internal order by view_name"
names = [name for (name,) in store.execute(views).fetchall()]
count = lambda name: store.execute(f'select count(*) from (select * from "{name}")').fetchone()[0]
print(json.dumps([duckdb.__version__, {name: count(name) for name in names}]))
"""


def _counts(whole_copy: Path, library: Path | None = None) -> tuple[str, dict[str, int]]:
    environment = os.environ | ({"PYTHONPATH": str(library)} if library else {})
    asked = subprocess.run(
        [sys.executable, "-c", ASK, str(whole_copy)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(asked.stdout)


@pytest.mark.skipif(not OLDEST.exists(), reason="`make test` installs DuckDB 1.4 beside the tests")
def test_duckdb_1_4_reads_every_view(tmp_path_factory):
    whole_copy = shared_store(tmp_path_factory, "bert")
    version, counts = _counts(whole_copy, OLDEST)
    assert version.startswith("1.4.")
    assert (duckdb.__version__, counts) == tuple(_counts(whole_copy))
    assert len(counts) > 60
