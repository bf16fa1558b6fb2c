"""Shards and tables are made once, and again if damaged; what a machine refuses is said."""

import errno
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import torch

from analysis.errors import UserError
from analysis.needs import Setting
from analysis.statistics.base.tables import FitContext
from analysis.statistics.corpus import CORPUS
from precompute.corpora.word_files import Frequencies, WordVectors
from precompute.jobs import shards, tables
from precompute.jobs.runner import MOST_WAITING, beside, reporting_shortage, run_local
from precompute.jobs.shards import finish_shard, is_intact
from precompute.passes import STATISTICS
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import fetched, request, shards_only

CHOSEN = ("head_token", "singular_value", "token_type_mixing")
"""One statistic of each kind: from traced batches, from weights, from finished shards."""
ROWS = pa.table({"n": list(range(10_000)), "name": ["a", "b"] * 5_000})


@pytest.fixture
def shard(tmp_path) -> Path:
    return finish_shard(tmp_path / "head_token" / "abc", 0, lambda: pa.table({"n": [1]}))


def _flip(shard: Path, place: int) -> None:
    content = bytearray(shard.read_bytes())
    content[place] ^= 0xFF
    shard.write_bytes(content)


def test_a_shard_that_is_flipped_cut_or_grown_anywhere_is_noticed(shard):
    intact = shard.read_bytes()
    for place in range(len(intact)):
        _flip(shard, place)
        assert not is_intact(shard), place
        shard.write_bytes(intact[:place])
        assert not is_intact(shard), place
        shard.write_bytes(intact)
    assert is_intact(shard)
    for more in (intact + b"\0", b"\0" + intact, intact + intact):
        shard.write_bytes(more)
        assert not is_intact(shard)


@pytest.mark.parametrize(
    ("place", "is_same"),
    [
        ("elsewhere/head_token/abc/00000.parquet", True),
        ("head_token/abc/00001.parquet", False),
        ("token_norm/abc/00000.parquet", False),
        ("head_token/abd/00000.parquet", False),
    ],
)
def test_a_whole_shard_in_the_place_of_another_is_noticed(shard, tmp_path, place, is_same):
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(shard, tmp_path / place)
    assert is_intact(tmp_path / place) == is_same


def test_a_full_disk_is_told_and_what_is_half_written_is_removed(tmp_path, monkeypatch):
    def full(_table, file, **_options):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shards.pq, "write_table", full)
    assert refused(UserError, finish_shard, tmp_path / "folder", 0, lambda: ROWS) == (
        f"The disk that holds {tmp_path / 'folder'} is full. Finished shards are kept: "
        "free some space and rerun the command."
    )
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.fixture
def again(tmp_path_factory, tmp_path) -> Request:
    """Repeat the run for a few statistics, with copies of its shards."""
    folder = shared_store(tmp_path_factory).parent
    shutil.copytree(folder / ".shards", tmp_path / ".shards")
    return replace(request(folder), output=tmp_path / "tiny.duckdb", statistics=list(CHOSEN))


def _shard_of(name: str, asked: Request) -> Path:
    (shard,) = (asked.output.parent / ".shards" / name).rglob("*.parquet")
    return shard


def test_a_run_computes_damaged_shards_again_and_ends_with_the_same_numbers(
    again, tmp_path_factory, capsys
):
    damaged = [_shard_of(name, again) for name in CHOSEN]
    _flip(damaged[0], 100)
    damaged[1].write_bytes(b"")
    shutil.copy(_shard_of("token_norm", again), damaged[2])
    run(again, run_local)
    output = capsys.readouterr().err
    for shard in damaged:
        aside = f".{shard.name}.1.damaged"
        assert f"{shard} is damaged: it is kept as {aside} and computed again." in output
        assert is_intact(shard)
        assert shard.with_name(aside).exists()
    undamaged = shared_store(tmp_path_factory)
    for name in CHOSEN:
        rows = f"select hash(row) from stored.{name} as row order by 1"
        assert fetched(again.output, rows) == fetched(undamaged, rows), name


def test_a_disk_that_damages_every_shard_ends_the_run(again, monkeypatch):
    monkeypatch.setattr("precompute.jobs.shards.seal", lambda *_: None)
    shard = _shard_of("head_token", again)
    _flip(shard, 100)
    assert refused(UserError, run, again, run_local) == (
        f"{shard} was computed again and is damaged again. The disk or the memory is at fault: "
        "rerun the command with --output on another disk."
    )
    assert not again.output.exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "statistics could not be read or written (No space left on device). See to its space "
            "and permissions and rerun the command: finished shards are kept.",
        ),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to\nmore"),
            "There is too little memory (CUDA out of memory. Tried to). End other programs, or "
            "take fewer --workers or a smaller --max-tokens, and rerun the command: finished "
            "shards are kept.",
        ),
    ],
)
def test_what_the_machine_refuses_is_said_with_what_to_do(error, said):
    with pytest.raises(UserError) as caught, reporting_shortage(Path("statistics/a.duckdb")):
        raise error
    assert str(caught.value) == said


def test_what_is_our_own_fault_is_not_hidden():
    with pytest.raises(RuntimeError, match="shapes"), reporting_shortage(Path("a.duckdb")):
        raise RuntimeError("shapes")


def test_computing_goes_on_meanwhile_and_waits_where_much_is_not_written_yet():
    may_write, started = Event(), Event()

    def slow():
        started.set()
        assert may_write.wait(60)

    with beside() as write:
        for _ in range(MOST_WAITING):
            write(slow)
        assert started.wait(60), "it is written while this goes on"
        Timer(0.2, may_write.set).start()
        write(lambda: None)
        assert may_write.is_set(), "as many pieces as may wait were there, so this one had to"


def test_what_goes_wrong_stops_the_run_and_nothing_after_it_is_begun():
    failed, after = Event(), []

    def fail():
        failed.set()
        raise OSError("disk")

    def went_on():
        with beside() as write:
            write(fail)
            assert failed.wait(60)
            write(lambda: after.append("written"))
            after.append("computed")

    with pytest.raises(OSError, match="disk"):
        went_on()
    assert not after


MERGED = ["head_pattern", "head_layout", "pair_pmi_correlation", "token_type_mixing"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return request(tmp_path_factory.mktemp("tables"), statistics=MERGED)


@pytest.fixture(scope="module")
def plan(asked):
    return shards_only(asked)


def rows_of(query: str) -> list[tuple]:
    with duckdb.connect() as store:
        return store.execute(query).fetchall()


def test_every_table_comes_once_after_those_that_it_needs_and_in_its_order(plan):
    assert sorted(plan.tables) == sorted(plan.statistics)
    for place, name in enumerate(plan.tables):
        assert plan.needs(name) <= {*plan.tables[:place]}, name
    assert plan.needs("head_layout") == {"head_distance"}
    assert plan.needs(0) == frozenset()
    for of in plan.passes:
        file = plan.table_file(of)
        order = ", ".join(f"{column} nulls last" for column in of.sorted_by)
        assert rows_of(f"from '{file}'") == rows_of(f"from '{file}' order by {order}"), of.name


def test_a_damaged_table_is_made_again(asked, plan, capsys):
    files = [plan.table_file(STATISTICS["head_pattern"]), plan.corpus_file(CORPUS[1])]
    before = [file.read_bytes() for file in files]
    for file, content in zip(files, before, strict=True):
        file.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
        assert not is_intact(file)
    shards_only(asked)
    messages = capsys.readouterr().err
    for file, content in zip(files, before, strict=True):
        assert f"{file} is damaged" in messages
        assert file.read_bytes() == content


def test_a_fit_sees_only_tables_and_settings_that_it_says_it_needs(plan, tmp_path):
    of, handed = STATISTICS["token_type_mixing"], list[FitContext]()
    assert of.made_by is not None
    vectors = WordVectors("glove.txt", "0", {})
    given = replace(plan, frequencies=Frequencies(np.arange(9), "0"), word_vectors=vectors)
    with tables.workspace(tmp_path) as database:
        with pytest.raises(duckdb.CatalogException, match="head_token"):
            tables._fitted(database, plan, replace(of, requires=()), of.made_by)
        for declared in ((), tuple(Setting)):
            table = replace(of, depends_on=declared)
            tables._fitted(database, given, table, lambda *arguments: handed.append(arguments[-1]))
    seen = [([*context.frequency_ranks], context.word_vectors) for context in handed]
    assert seen == [([], None), (["file"], vectors)]


WITHOUT_TORCH = """
import sys
from precompute.command_line import app

for command in (["statistics"], ["show", sys.argv[1]], ["check", sys.argv[1]]):
    app(command, standalone_mode=False)
print([name for name in ("torch", "transformers") if name in sys.modules])
"""


def test_commands_that_need_no_model_load_no_torch(tmp_path_factory):
    store = shared_store(tmp_path_factory)
    command = [sys.executable, "-c", WITHOUT_TORCH, str(store)]
    folder = Path(__file__).parents[3]
    run = subprocess.run(command, cwd=folder, check=True, text=True, capture_output=True)
    assert run.stdout.endswith(f"{store}: whole and sound.\n[]\n")
