"""The page opened on a section, and what its file says."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from tests.pages.conftest import section_of

section = section_of("sequences", "seq")


@pytest.fixture
def store(store_folder: Path) -> Iterator[DuckDBPyConnection]:
    """The file itself, to be asked what a section has to show."""
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection
