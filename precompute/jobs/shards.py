"""Shards on disk: complete and sealed, in folders named by the fingerprint of their sources."""

import errno
import hashlib
import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.errors import UserError
from analysis.statistics.base.tables import Table
from precompute.jobs.counted import added_up
from precompute.jobs.seal import seal

UNFINISHED = ".unfinished"
INDICES = ("layer", "head", "layer_a", "head_a", "layer_b", "head_b")
"""Columns that passes count from 0, like tensors, and that shards and files count from 1."""


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
    """Compute a shard unless it exists, and return its path.

    Raises:
        UserError: if the disk is full; finished shards stay.
    """
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


def counted_from_1(rows: pa.Table, layers: Sequence[int] = ()) -> pa.Table:
    """Count layers and heads of a pass's rows from 1.

    Args:
        layers: numbers of the layers that attend, where others stand between them.

    Raises:
        pyarrow.ArrowInvalid: if there are more layers or heads than their column can number.
    """
    for place, field in enumerate(rows.schema):
        if field.name in INDICES:
            one = pa.scalar(1, type=field.type)
            counted = pc.call_function("add_checked", [rows[place], one])
            if layers and field.name.startswith("layer"):
                counted = pc.take(pa.array(layers, type=field.type), rows[place])
            rows = rows.set_column(place, field, counted)
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
