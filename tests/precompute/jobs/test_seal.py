"""A shard other than the one written is detected, reported and computed again."""

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.jobs.shards import finish_shard, is_intact, set_aside
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import request

CHOSEN = ("head_token", "singular_value", "token_type_mixing")
"""One statistic of each kind: from traced batches, from weights, from finished shards."""


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> list[Path]:
    """Every shard of a whole run."""
    return sorted(shared_store(tmp_path_factory).parent.joinpath(".shards").rglob("*.parquet"))


@pytest.fixture
def again(tmp_path_factory, tmp_path) -> Request:
    """Repeat the run for a few statistics, with copies of its shards."""
    folder = shared_store(tmp_path_factory).parent
    shutil.copytree(folder / ".shards", tmp_path / ".shards")
    return replace(request(folder), output=tmp_path / "tiny.duckdb", statistics=list(CHOSEN))


def _copy(shard: Path, folder: Path) -> Path:
    """The shard below another folder, at the same place."""
    target = folder.joinpath(*shard.parts[-3:])
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(shard, target))


def _shard_of(name: str, asked: Request) -> Path:
    (shard,) = (asked.output.parent / ".shards" / name).rglob("*.parquet")
    return shard


def _flip(shard: Path, place: int, bits: int = 0xFF) -> None:
    content = bytearray(shard.read_bytes())
    content[place] ^= bits
    shard.write_bytes(content)


def test_a_sealed_shard_is_intact_wherever_its_folders_lie(shards, tmp_path):
    assert len(shards) > 50
    assert all(map(is_intact, shards))
    assert all(is_intact(_copy(shard, tmp_path)) for shard in shards)


def test_every_flipped_byte_of_one_shard_is_noticed(tmp_path):
    shard = finish_shard(tmp_path, 0, lambda: pa.table({"n": [1]}))
    for place in range(shard.stat().st_size):
        _flip(shard, place)
        assert not is_intact(shard), place
        _flip(shard, place)
    assert is_intact(shard)


def test_a_shard_that_is_cut_off_anywhere_or_has_grown_is_noticed(shards, tmp_path):
    shard = _copy(shards[0], tmp_path)
    intact = shard.read_bytes()
    for length in range(len(intact)):
        shard.write_bytes(intact[:length])
        assert not is_intact(shard), length
    for more in (intact + b"\0", b"\0" + intact, intact + intact):
        shard.write_bytes(more)
        assert not is_intact(shard)


def test_a_whole_shard_in_the_place_of_another_is_noticed(tmp_path):
    first, second = (
        finish_shard(tmp_path / "head_token" / "abc", index, lambda: pa.table({"n": [1]}))
        for index in (0, 1)
    )
    other = tmp_path / "token_norm" / "abc" / first.name
    newer = tmp_path / "head_token" / "abd" / first.name
    for place in (second, other, newer):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(first, place)
        assert not is_intact(place)
    assert is_intact(first)


def test_a_shard_without_a_seal_and_what_is_no_shard_are_noticed(tmp_path):
    unsealed, folder, dangling = (tmp_path / f"{n:05d}.parquet" for n in range(3))
    pq.write_table(pa.table({"n": [1]}), unsealed)
    folder.mkdir()
    dangling.symlink_to(tmp_path / "nowhere")
    assert not any(map(is_intact, (unsealed, folder, dangling, tmp_path / "nothing")))


def test_readers_of_parquet_do_not_see_the_seal(tmp_path):
    rows = pa.table({"n": list(range(10_000)), "name": ["a", "b"] * 5_000})
    shard = finish_shard(tmp_path, 0, lambda: rows)
    assert pq.read_table(shard) == rows
    with duckdb.connect() as connection:
        assert connection.sql(f"from '{shard}'").to_arrow_table() == rows


def test_damaged_shards_are_kept_under_names_that_nothing_reads(tmp_path):
    names = []
    for _ in range(2):
        shard = finish_shard(tmp_path, 0, lambda: pa.table({"n": [1]}))
        names.append(set_aside(shard).name)
    assert names == [".00000.parquet.1.damaged", ".00000.parquet.2.damaged"]
    assert not list(tmp_path.glob("*.parquet"))


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
    with duckdb.connect(str(again.output), read_only=True) as connection:
        connection.execute(f"attach '{undamaged}' as whole (read_only)")
        for name in CHOSEN:
            for first, other in (("stored", "whole.stored"), ("whole.stored", "stored")):
                only = f"select count(*) from (from {first}.{name} except all from {other}.{name})"
                assert connection.execute(only).fetchall() == [(0,)], name


def test_a_disk_that_damages_every_shard_ends_the_run(again, monkeypatch):
    monkeypatch.setattr("precompute.jobs.shards.seal", lambda *_: None)
    shard = _shard_of("head_token", again)
    _flip(shard, 100)
    assert refused(UserError, run, again, run_local) == (
        f"{shard} was computed again and is damaged again. The disk or the memory is at fault: "
        "rerun the command with --output on another disk."
    )
    assert not again.output.exists()
