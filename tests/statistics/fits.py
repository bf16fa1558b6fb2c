"""Rows of tables, made from others that a test makes by hand, or of layers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import POST_NORM
from analysis.statistics.base.tables import FitContext, Table
from precompute.jobs.shards import as_stored, merged
from precompute.passes.filling import begin
from precompute.passes.layers import Layer


@contextmanager
def store_of(**tables: pd.DataFrame | pa.Table) -> Iterator[DuckDBPyConnection]:
    """Open a database with the tables; each of 1,000 sequences is its own block."""
    with duckdb.connect() as store:
        store.execute("set threads = 1")
        store.execute("create table blocks as select range as seq, range as block from range(1000)")
        for name, rows in tables.items():
            store.register(f"{name}_rows", rows)
            store.execute(f"create table {name} as from {name}_rows")
        yield store


def made(table: Table, store: DuckDBPyConnection, **chosen: Any) -> pd.DataFrame:
    """Return the rows of a table that is made from others, with what is chosen otherwise."""
    assert table.made_by is not None
    context = FitContext(**({"seed": 0, "order": POST_NORM, "frequency_ranks": {}} | chosen))
    return table.made_by(table, store, context).to_pandas()


def stored(table: Table, layers: Sequence[Layer]) -> pd.DataFrame:
    """The rows of a table for a batch, merged, in the order of its key."""
    filling = begin(table, layers[0].batch)
    for layer in layers:
        filling.add(layer)
    frame = as_stored(table, merged(table, [filling.rows()])).to_pandas()
    return frame.sort_values([column.name for column in table.key], ignore_index=True)


def public(table: Table, rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one of a table's views, from stored rows."""
    [sql] = [view.sql for view in table.all_views if view.name == name]
    with duckdb.connect() as store:
        store.execute("create schema stored")
        store.execute(f"create table stored.{table.name} as from rows")
        return store.sql(f"from ({sql}) order by all").df()
