"""The page opened on a section, and what a file says of its pairs."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from tests.pages.conftest import section_of

SECTIONS = ("workbench", "tables", "pmi")

section = section_of("token_pairs", "tp")


@pytest.fixture
def store(store_folder: Path) -> Iterator[DuckDBPyConnection]:
    """The file itself, to be asked what a section has to show."""
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection
