"""Fits of tables on rows that a test makes by hand or with a tiny model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import POST_NORM
from analysis.statistics.base.tables import FitContext, Table


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
