"""A folder with files that differ in a known way."""

from pathlib import Path
from shutil import copyfile

import duckdb
import pytest

PLANTED = "masked *x*.duckdb"
"""A name that markdown would read."""


@pytest.fixture(scope="session")
def several_folder(treebank_folder, gpt2_folder, images_folder, tmp_path_factory) -> Path:
    """A file, the same again, the same with less attention to [CLS] in layer 2, and two others."""
    folder = tmp_path_factory.mktemp("compared")
    for name in ("a.duckdb", "same.duckdb", PLANTED):
        copyfile(treebank_folder / "tiny.duckdb", folder / name)
    copyfile(gpt2_folder / "tiny.duckdb", folder / "gpt.duckdb")
    copyfile(images_folder / "tiny.duckdb", folder / "vit.duckdb")
    with duckdb.connect(str(folder / PLANTED)) as store:
        store.execute("update stored.sequence_head_pattern set cls = cls * 0.8 where layer = 2")
        store.execute(
            "update stored.manifest set checksum = 1 where name = 'sequence_head_pattern'"
        )
    return folder
