"""Shards on disk: complete and sealed, in folders named by the fingerprint of their sources."""

import errno
import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.errors import UserError
from analysis.statistics.table import Table
from precompute.jobs.counted import added_up
from precompute.jobs.seal import seal

UNFINISHED = ".unfinished"
INDICES = ("layer", "head", "layer_a", "head_a", "layer_b", "head_b")
"""Columns that passes count from 0, like tensors, and that shards and files count from 1."""
_SECONDS_TILL_STALE = 3600
_OWNER = re.compile(rf"\.(?P<machine>\w+)-(?P<process>[0-9]+){re.escape(UNFINISHED)}")


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


def finish_shard(
    folder: Path,
    index: int,
    compute: Callable[[], pa.Table],
    *,
    row_group_size: int | None = None,
) -> Path:
    """Compute a shard unless it exists, and return its path.

    The file takes its name only once it is complete, sealed and on disk, so a killed run leaves
    nothing that looks finished.

    Raises:
        UserError: if the disk is full; finished shards stay.
    """
    shard = shard_path(folder, index)
    if shard.exists():
        return shard
    table = compute()
    with named_when_whole(shard) as file:
        pq.write_table(table, file, row_group_size=row_group_size, **storage_of(table.schema))
        seal(file, shard)
    return shard


def storage_of(schema: pa.Schema) -> dict[str, Any]:
    """Return how Parquet stores columns: names as numbers, which DuckDB reads in half the time."""
    return {
        "compression": "lz4",
        "use_dictionary": names_in(schema),
        "write_page_checksum": True,
    }


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
        raise _out_of_space(error, path.parent) from error


def _out_of_space(error: OSError, folder: Path) -> Exception:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return error
    return UserError(
        f"The disk that holds {folder} is full. Finished shards are kept: "
        "free some space and rerun the command."
    )


def unfinished_name(path: Path) -> Path:
    """Return a temporary name beside a path for this process to write to before renaming."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}{UNFINISHED}")


def remove_unfinished(output: Path, shards: Path) -> None:
    """Delete half-written files of killed runs beside an output and below its shards.

    The name identifies the owner. Files of a process of this machine that has ended are deleted; of
    other machines, and on Windows, those without a write in the last hour, since their run may
    still be going.
    """
    pattern = f".*{UNFINISHED}*"
    for left_over in [*output.parent.glob(pattern), *shards.rglob(pattern)]:
        with suppress(FileNotFoundError):
            unchanged = time.time() - left_over.stat().st_mtime
            if unchanged > _SECONDS_TILL_STALE or _is_orphan(left_over.name):
                shutil.rmtree(left_over) if left_over.is_dir() else left_over.unlink()


def _is_orphan(name: str) -> bool:
    """Return True if an unfinished file belongs to a process of this machine that has ended."""
    owner = _OWNER.search(name)
    if owner is None or owner["machine"] != _machine():
        return False
    if os.name == "nt":  # where a signal of 0 would interrupt the process; age tells
        return False
    try:
        os.kill(int(owner["process"]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())


def counted_from_1(rows: pa.Table, layers: Sequence[int] = ()) -> pa.Table:
    """Count layers and heads of a pass's rows from 1.

    Args:
        layers: numbers of the layers that attend, where others stand between them.

    Raises:
        pyarrow.ArrowInvalid: if there are more layers or heads than their column can number.
    """
    for name in set(INDICES) & set(rows.column_names):
        place, column = rows.column_names.index(name), rows[name]
        if layers and name.startswith("layer"):
            counted = pc.take(pa.array(layers, type=column.type), column)
        else:
            one = pa.scalar(1, type=column.type)
            counted = pc.call_function("add_checked", [column, one])
        rows = rows.set_column(place, rows.field(name), counted)
    return rows


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
