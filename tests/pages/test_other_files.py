"""The overview lists what else is in the folder."""

from shutil import copyfile

import pytest

from tests.pages.conftest import sentences

pytestmark = pytest.mark.slow


def test_other_files_are_listed_readable_or_not(opened, store_folder, tmp_path):
    for name in ("a.duckdb", "b.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "c.duckdb").write_text("not a database")
    told = sentences(opened("overview", tmp_path, file="b.duckdb"))
    assert "on text\\.txt, 3 sequences" in told
    assert "c\\.duckdb cannot be read" in told
