"""Files of other models than the usual one."""

from pathlib import Path
from shutil import copyfile

import pytest


@pytest.fixture(scope="session")
def several_folder(store_folder, gpt2_folder, plain_folder, tmp_path_factory) -> Path:
    """A folder with files of two models, and one without any statistic of positions."""
    folder = tmp_path_factory.mktemp("several")
    copyfile(store_folder / "tiny.duckdb", folder / "bert.duckdb")
    copyfile(gpt2_folder / "tiny.duckdb", folder / "gpt.duckdb")
    copyfile(plain_folder / "tiny.duckdb", folder / "other.duckdb")
    return folder
