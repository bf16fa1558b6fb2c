"""The page opened on a section, and files of other models than the usual one."""

from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

import pandas as pd
import pytest

from tests.pages.conftest import section_of
from tests.small_store import build_store

section = section_of("positions", "po")


@pytest.fixture(scope="session")
def several_folder(store_folder, gpt2_folder, tmp_path_factory) -> Path:
    """A folder with files of two models, and one without any statistic of positions."""
    folder = tmp_path_factory.mktemp("several")
    copyfile(store_folder / "tiny.duckdb", folder / "bert.duckdb")
    copyfile(gpt2_folder / "tiny.duckdb", folder / "gpt.duckdb")
    without = tmp_path_factory.mktemp("without")
    copyfile(build_store(without, statistics=["token_norm"]), folder / "other.duckdb")
    return folder


def frame_of(exported: Mapping[str, tuple[pd.DataFrame, Any]], key: str) -> pd.DataFrame:
    """The frame of the one figure whose key begins so."""
    return _figure(exported, key)[0]


def chart_of(exported: Mapping[str, tuple[pd.DataFrame, Any]], key: str) -> Any:
    """The chart of the one figure whose key begins so."""
    return _figure(exported, key)[1]


def _figure(exported: Mapping[str, tuple[pd.DataFrame, Any]], key: str) -> tuple[pd.DataFrame, Any]:
    (found,) = (figure for name, figure in exported.items() if name.startswith(key))
    return found
