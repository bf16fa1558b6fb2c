"""A file that is replaced while a page is drawn is shown as it was, and whole; then as it is."""

import os
from pathlib import Path
from shutil import copyfile

import pytest
import streamlit as st

from pages.kit.run import run, within
from pages.services import open_file
from pages.services.open_file import Replaced, cursor, seen_once, version_of
from tests.pages.kit.stores import changed_copy

pytestmark = pytest.mark.usefixtures("fresh")
PAGE = """
import os
from pathlib import Path
import streamlit as st
from pages.kit.section import rows_of
from pages.services.chosen import open_store
from pages.services.folder import files
from pages.services.inquiry import Inquiry
from pages.services.open_file import seen_once

new = Path(st.query_params["new"])
with seen_once():
    before = open_store().content
    if new.exists():
        os.replace(new, files()[0])
    st.text(len(rows_of("select distinct n_tokens from sequence", Inquiry(open_store()), {})))
    st.text(before == open_store().content)
    st.text(before)
"""


@pytest.fixture
def new(store_folder, tmp_path) -> Path:
    """A file with another content, outside the folder."""
    other = tmp_path / "other"
    other.mkdir()
    shorter = changed_copy(
        store_folder,
        other,
        "delete from stored.sequence where seq > 0",
        "update stored.manifest set n_rows = 1 where name = 'sequence'",
    )
    return shorter / "tiny.duckdb"


@pytest.fixture
def path(store_folder, tmp_path) -> Path:
    folder = tmp_path / "statistics"
    folder.mkdir()
    return Path(copyfile(store_folder / "tiny.duckdb", folder / "tiny.duckdb"))


def test_a_page_shows_one_file_though_another_takes_its_place(path, new, in_session):
    session = in_session(PAGE, path.parent, new=str(new))
    assert not session.exception
    n_lengths, is_same, content = (text.value for text in session.text)
    assert is_same == "True"
    session.run()
    n_now, is_same, content_now = (text.value for text in session.text)
    assert is_same == "True"
    assert content_now != content
    assert n_now != n_lengths


def test_what_is_drawn_again_of_a_page_is_of_the_file_that_it_showed(path, new):
    with seen_once():
        shown, kept = version_of(path), run()
    os.replace(new, path)
    assert version_of(path) != shown
    with within(kept):
        assert version_of(path) == shown
    with seen_once():
        assert version_of(path) != shown, "a whole page finds its files anew"


def test_a_file_that_is_replaced_between_finding_and_opening_is_not_taken_for_the_other(
    path, new, monkeypatch
):
    version = version_of(path)

    def replaced(store, place: str) -> None:
        os.replace(new, path)
        attach(store, place)

    attach = open_file.attach
    monkeypatch.setattr(open_file, "attach", replaced)
    with pytest.raises(Replaced), cursor(version):
        pytest.fail("this is the other file")
    monkeypatch.undo()
    with pytest.raises(Replaced), cursor(version):
        pytest.fail("this is the other file")
    with cursor(version_of(path)) as opened:
        assert opened.execute("from sequence").df().shape[0] == 1


def test_a_page_that_finds_a_file_gone_looks_again_and_stays_the_page_it_is(
    path, new, in_session, monkeypatch
):
    """A run that begins anew before `st.navigation` has lost which page a link asks for."""

    def replaced(store, place: str, **given: str) -> None:
        if new.exists():
            os.replace(new, path)
        attach(store, place, **given)

    attach = open_file.attach
    monkeypatch.setattr(open_file, "attach", replaced)
    monkeypatch.setattr(st, "rerun", lambda: pytest.fail("begins anew"))
    session = in_session(PAGE, path.parent, new=str(new))
    assert not session.exception
    assert not session.error
    assert [text.value for text in session.text][:2] == ["1", "True"]
