"""The overview lists what else is in the folder."""

import os
from shutil import copyfile
from urllib.parse import parse_qsl

import pytest

from tests.pages.conftest import frames, sentences

pytestmark = pytest.mark.slow


def test_other_files_are_listed_readable_or_not(opened, store_folder, tmp_path):
    for name in ("a.duckdb", "b.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "c.duckdb").write_text("not a database")
    text = sentences(opened("overview", tmp_path, file="b.duckdb"))
    assert "on text\\.txt, 3 texts" in text
    assert "c\\.duckdb cannot be read" in text


@pytest.mark.parametrize("page", ["overview", "habits", "compare"])
def test_a_name_that_is_no_text_hides_no_other_file(opened, store_folder, tmp_path, page):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb")
    copyfile(store_folder / "tiny.duckdb", os.fsencode(tmp_path) + b"/\xff\xfe*.duckdb")
    session = opened(page, tmp_path)
    [warning] = session.sidebar.warning
    assert r"\\xff\\xfe\*\.duckdb is left out" in warning.value
    assert session.sidebar.selectbox(key="file").options == ["tiny.duckdb"]


def test_a_file_with_trees_is_a_click_away_from_one_without(
    opened, store_folder, treebank_folder, tmp_path
):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "plain.duckdb")
    copyfile(next(treebank_folder.glob("*.duckdb")), tmp_path / "trees.duckdb")
    session = opened("syntax", tmp_path, file="plain.duckdb", sy_view="relations")
    [link] = [link.proto for link in session.main.get("page_link")]
    assert link.label == r"→ trees\.duckdb"
    place = dict(parse_qsl(link.query_string))
    assert place == {"file": "trees.duckdb", "lang": "en", "sy_view": "relations"}
    assert frames(opened("syntax", tmp_path, **place))
