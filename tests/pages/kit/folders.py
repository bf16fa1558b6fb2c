"""Folders with one file of a tiny model."""

from pathlib import Path
from typing import Any

import pytest

from tests.shared_store import shared_store


def folder_of(family: str = "bert", **chosen: Any) -> Any:
    """A fixture: the folder of a file, tiny.duckdb, that the real passes built.

    Args:
        chosen: further options of `shared_store`.
    """

    @pytest.fixture(scope="session")
    def folder(tmp_path_factory) -> Path:
        return shared_store(tmp_path_factory, family, **chosen).parent

    return folder
