"""A finished file, opened to be read, whoever made it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

import duckdb
from duckdb import DuckDBPyConnection

from analysis.foreign_file import attach
from analysis.time_limit import time_limit

MEMORY = "4GB"
"""Pairs at the papers' size are checked in less."""
SECONDS = 3600.0
"""More than checking every pair of the papers' corpus takes."""


@contextmanager
def opened(path: Path) -> Iterator[DuckDBPyConnection]:
    """Open a file's tables and views, with a time limit of an hour.

    Raises:
        OtherSchema: if it is of another version of this program.
        BrokenContract: if it is none of this program's, or was changed.
        Locked: if another process holds it open for writing.
        TooSlow: if a query takes too long.
        duckdb.Error: if it cannot be read.
    """
    with duckdb.connect(":memory:") as store, time_limit(store, SECONDS):
        attach(store, str(path.resolve()), memory=MEMORY, spill_to=gettempdir())
        yield store
