"""Shards are written by a thread, and again if they are others; what a machine refuses is said."""

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer, current_thread

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from analysis.errors import UserError
from precompute.jobs import shards
from precompute.jobs.runner import MOST_WAITING, beside, reporting_shortage, run_local
from precompute.jobs.shards import finish_shard, is_intact
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import fetched, request

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


def test_a_shard_without_a_seal_and_what_is_no_shard_are_noticed(tmp_path):
    unsealed, folder, dangling = (tmp_path / f"{n:05d}.parquet" for n in range(3))
    pq.write_table(pa.table({"n": [1]}), unsealed)
    folder.mkdir()
    dangling.symlink_to(tmp_path / "nowhere")
    assert not any(map(is_intact, (unsealed, folder, dangling, tmp_path / "nothing")))


def test_a_finished_shard_is_read_by_all_and_not_computed_again(tmp_path):
    finish_shard(tmp_path, 0, lambda: ROWS)
    shard = finish_shard(tmp_path, 0, lambda: pytest.fail("computed again"))
    assert pq.read_table(shard) == ROWS
    with duckdb.connect() as connection:
        assert connection.sql(f"from '{shard}'").to_arrow_table() == ROWS


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


OUTPUT = Path("statistics") / "bert.duckdb"
DISK = (
    "statistics could not be read or written ({}). See to its space and permissions and rerun the "
    "command: finished shards are kept."
)
MEMORY = (
    "There is too little memory ({}). End other programs, or take fewer --workers or a smaller "
    "--max-tokens, and rerun the command: finished shards are kept."
)
FULL, COMMIT = "No space left on device", "Failed to commit: Could not write file"
ALLOCATOR, CUDA = "DefaultCPUAllocator: can't allocate memory", "CUDA out of memory. Tried to"


@pytest.mark.parametrize(
    ("error", "sentence", "reason"),
    [
        (OSError(errno.ENOSPC, FULL), DISK, FULL),
        (duckdb.IOException(f"IO Error: {FULL}\n"), DISK, f"IO Error: {FULL}"),
        (duckdb.TransactionException(f"{COMMIT}\nmore"), DISK, COMMIT),
        (MemoryError(), MEMORY, "MemoryError"),
        (duckdb.OutOfMemoryException("Out of Memory Error"), MEMORY, "Out of Memory Error"),
        (RuntimeError(f"{ALLOCATOR}\nmore"), MEMORY, ALLOCATOR),
        (torch.OutOfMemoryError(f"{CUDA}\nmore"), MEMORY, CUDA),
    ],
)
def test_what_the_machine_refuses_is_said_with_what_to_do(error, sentence, reason):
    with pytest.raises(UserError) as caught, reporting_shortage(OUTPUT):
        raise error
    assert str(caught.value) == sentence.format(reason)


@pytest.mark.parametrize(
    "error", [KeyError("x"), RuntimeError("shapes"), BrokenPipeError(), duckdb.BinderException("x")]
)
def test_what_is_our_own_fault_is_not_hidden(error):
    with pytest.raises(type(error)), reporting_shortage(OUTPUT):
        raise error


SECONDS = 60


def test_everything_is_written_in_order_and_in_another_thread():
    written = []
    with beside() as write:
        for n in range(20):
            write(lambda n=n: written.append((n, current_thread().name.startswith("writing"))))
    assert written == [(n, True) for n in range(20)]


def test_computing_goes_on_meanwhile_and_waits_where_much_is_not_written_yet():
    may_write, started = Event(), Event()

    def slow():
        started.set()
        assert may_write.wait(SECONDS)

    with beside() as write:
        for _ in range(MOST_WAITING):
            write(slow)
        assert started.wait(SECONDS), "it is written while this goes on"
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
            assert failed.wait(SECONDS)
            write(lambda: after.append("written"))
            after.append("computed")

    with pytest.raises(OSError, match="disk"):
        went_on()
    assert not after
    with pytest.raises(OSError, match="disk"), beside() as write:
        write(fail)


def test_where_computing_fails_what_was_begun_is_finished():
    may_write, started, written = Event(), Event(), []

    def slow():
        started.set()
        assert may_write.wait(SECONDS)
        written.append(1)

    def interrupted():
        with beside() as write:
            write(slow)
            assert started.wait(SECONDS)
            may_write.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert written == [1]
