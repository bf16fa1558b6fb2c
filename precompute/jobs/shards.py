"""Shards on disk: complete, in folders named by the fingerprint of their sources, and sealed; and
claims on an output: one run at a time, or several runs of the same request.

A seal is a checksum inside a file, of all its bytes and of its path. Readers of Parquet find the
footer from the end of the file and everything else by its offset from the start, so 32 bytes
between data and footer disturb none of them. There the checksum appears together with the shard's
name, unlike a file beside it; and it covers the footer, unlike an entry in the footer. It also
covers the path (table, fingerprint, job), so that a whole shard of something else counts as
damaged.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import BaseFileLock, FileLock, Timeout

from analysis.errors import UserError
from analysis.statistics.base.tables import Table
from precompute import SHARDS

SEALED = "sha256 before the footer"
"""Form of the seal; part of every fingerprint, so that unsealed shards are never read."""
_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size
_END = 8  # the footer's length in four bytes, and PAR1
_CHUNK = 2**20


def seal(file: IO[bytes], shard: Path) -> None:
    """Write the checksum into a Parquet file that is open for reading and writing."""
    place = _footer_place(file)
    digest = _digest(file, shard, place, place)
    file.seek(place)
    footer = file.read()
    file.seek(place)
    file.write(digest + footer)


def is_intact(shard: Path) -> bool:
    """Return True if the shard is byte for byte as written for its path."""
    try:
        with shard.open("rb") as file:
            footer = _footer_place(file)
            file.seek(footer - _SIZE)
            return file.read(_SIZE) == _digest(file, shard, footer - _SIZE, footer)
    except (OSError, ValueError):  # unreadable, or shorter than its footer's offset
        return False


def set_aside(shard: Path) -> Path:
    """Rename a damaged shard, so that nothing reads it, and return the new path."""
    names = (shard.with_name(f".{shard.name}.{n}.damaged") for n in count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    with suppress(FileNotFoundError):  # another run has set it aside already
        shard.rename(aside)
    return aside


def _footer_place(file: IO[bytes]) -> int:
    end = file.seek(-_END, os.SEEK_END)
    return end - int.from_bytes(file.read(4), "little")


def _digest(file: IO[bytes], shard: Path, data_end: int, footer: int) -> bytes:
    """Return the checksum of the data, the footer and the path."""
    digest = _DIGEST("/".join(shard.parts[-3:]).encode())
    file.seek(0)
    left = data_end
    while chunk := file.read(min(left, _CHUNK)):
        digest.update(chunk)
        left -= len(chunk)
    file.seek(footer)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()


def added_up(table: Table, rows: pa.Table) -> pa.Table:
    """One row for each key of a table that is `counted`, in the order of its key."""
    rows = rows.unify_dictionaries().combine_chunks()
    columns: list[np.ndarray] = [  # names by their places
        of.combine_chunks().indices.to_numpy() if pa.types.is_dictionary(of.type) else of.to_numpy()
        for of in (rows[column.name] for column in table.key)
    ]
    code = np.ravel_multi_index(columns, [int(numbers.max(initial=0)) + 1 for numbers in columns])
    order = code.argsort(kind="stable")  # which is quick where some rows are in order already
    in_order = code[order]
    first = np.flatnonzero(np.diff(in_order, prepend=-1))
    summed = rows.take(order[first])
    for column in table.columns[len(table.key) :] if len(first) else ():
        place = rows.column_names.index(column.name)
        sums = np.add.reduceat(rows[column.name].to_numpy()[order], first)
        summed = summed.set_column(place, rows.field(place), pa.array(sums))
    return summed.cast(table.schema)


UNFINISHED = ".unfinished"


def fingerprint(**dependencies: object) -> str:
    """Return sixteen hex digits that change with any dependency of the numbers."""
    canonical = json.dumps(dependencies, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def contract(table: Table) -> list[str]:
    """Return a table's part of the fingerprint: columns, types and merge query."""
    return [*(f"{field.name} {field.type}" for field in table.shard_schema), table.merge]


def shard_path(folder: Path, index: int) -> Path:
    """Return the path of the shard of one part of the corpus, computed or not."""
    return folder / f"{index:05d}.parquet"


def finish_shard(folder: Path, index: int, compute: Callable[[], pa.Table]) -> Path:
    """Compute a shard unless it exists, and return its path."""
    shard = shard_path(folder, index)
    if not shard.exists():
        write_sealed(shard, compute())
    return shard


def write_sealed(path: Path, table: pa.Table, *, row_group_size: int | None = None) -> None:
    """Write rows as a sealed Parquet file, which takes its name only once it is on disk."""
    with named_when_whole(path) as file:
        pq.write_table(table, file, row_group_size=row_group_size, **storage_of(table.schema))
        seal(file, path)


def storage_of(schema: pa.Schema) -> dict[str, Any]:
    """Return how Parquet stores columns: names as numbers, which DuckDB reads in half the time."""
    return {"compression": "lz4", "use_dictionary": names_in(schema), "write_page_checksum": True}


def names_in(schema: pa.Schema) -> list[str]:
    """Return the columns that hold one of few names."""
    return [field.name for field in schema if pa.types.is_dictionary(field.type)]


@contextmanager
def named_when_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name only once it is complete and on disk.

    Raises:
        UserError: if the disk is full; finished files stay.
    """
    unfinished = unfinished_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UserError(
            f"The disk that holds {path.parent} is full. Finished shards are kept: "
            "free some space and rerun the command."
        ) from error


def unfinished_name(path: Path) -> Path:
    """Return a temporary name beside a path for this process to write to before renaming."""
    machine = re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())
    return path.with_name(f".{path.name}.{machine}-{os.getpid()}{UNFINISHED}")


def merged(table: Table, parts: list[pa.Table]) -> pa.Table:
    """Merge the parts of one shard by the table's own rule, unless they are raw."""
    shards = pa.concat_tables(parts)
    if table.merge == Table.merge or table.raw:
        return shards
    if table.counted:
        return added_up(table, shards)
    return as_stored(table, shards)


def as_stored(table: Table, shards: pa.Table) -> pa.Table:
    """Merge rows of shards that fit into memory into rows of the table."""
    with duckdb.connect(config={"memory_limit": "200MB"}) as connection:
        connection.register("shards", shards)
        return connection.sql(table.merge).to_arrow_table().cast(table.schema)


_PAUSE = 0.01  # seconds until claims are looked at again after two runs began at once
_NAMED = re.compile(r"\.(?P<asked>[0-9a-f]{16})-(?P<process>[0-9]+)-[0-9a-f]+\.claim$")


@contextmanager
def claimed(output: Path, asked: str) -> Iterator[Callable[[], None]]:
    """Hold the output until the run ends, however it ends: its lock goes with the process.

    Runs of the same request compute together and write the same file. With different requests the
    last run would replace the file of the first.

    Yields:
        A function that raises UserError if the claim is lost, as when its file was removed by hand.

    Raises:
        UserError: while a run of another request lives.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    request = hashlib.sha256(asked.encode(errors="surrogateescape")).hexdigest()[:16]
    token = f"{request}-{os.getpid()}-{secrets.token_hex(4)}"
    held = FileLock(output.with_name(f".{output.name}.{token}.claim"))
    _claim(held, output, request)

    def assert_held() -> None:
        if not Path(held.lock_file).exists():
            raise UserError(
                f"{held.lock_file} was removed while this run computed {output}, so that another "
                "run may write the same file. Nothing was replaced. Rerun the command to resume."
            )

    try:
        yield assert_held
    finally:
        _remove(held)


def _claim(held: BaseFileLock, output: Path, request: str) -> None:
    """Take the lock, and keep it if no run of another request lives.

    Every run claims before it looks, so that of two at once neither can miss the other.
    """
    while True:
        held.acquire()
        if _rival(output, request) is None:
            return
        _remove(held)
        time.sleep(_PAUSE)
        if (process := _rival(output, request)) is not None:
            raise UserError(
                f"A run with other settings or statistics, begun by process {process}, is "
                f"computing {output}, and the later file would replace the other. Wait until it "
                "has ended and rerun the command, which then adds to its file, or give another "
                "--output."
            )


def _rival(output: Path, request: str) -> str | None:
    """Return the process of a living run of another request, and remove claims of ended ones."""
    for path in output.parent.iterdir():
        name = path.name.removeprefix(f".{output.name}")
        claim = _NAMED.fullmatch(name) if name != path.name else None
        if claim and claim["asked"] != request and _lives(path):
            return claim["process"]
    return None


def _lives(path: Path) -> bool:
    """Return whether a process holds a claim; remove a claim that nobody holds."""
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    _remove(lock)
    return False


def _remove(lock: BaseFileLock) -> None:
    """Remove a lock's file while it is held, so that nobody else can hold what has no name."""
    with suppress(PermissionError):  # of Windows, where the release removes the file
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()


def remove_unfinished(folder: Path) -> None:
    """Delete what killed runs left half-written, unless another run in the folder lives."""
    if sum(map(_lives, [*folder.glob(".*.claim")])) > 1:  # this run's own is one
        return
    pattern, ours = f".*{UNFINISHED}*", f"-{os.getpid()}{UNFINISHED}"
    for left_over in [*folder.glob(pattern), *(folder / SHARDS).rglob(pattern)]:
        if ours not in left_over.name:
            with suppress(FileNotFoundError):
                shutil.rmtree(left_over) if left_over.is_dir() else left_over.unlink()
