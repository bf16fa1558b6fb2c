"""Files from any source are found, opened, told apart, replaced, or refused in plain words."""

import os
import shutil
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from shutil import copyfile
from unittest.mock import Mock

import duckdb
import pytest
import streamlit as st

from analysis.errors import UserError
from analysis.foreign_file import Locked, OtherSchema, attach
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.question import TooLarge, frame_of
from analysis.time_limit import TooSlow
from pages.services import chosen as shell
from pages.services import open_file
from pages.services.chosen import readable, why_unreadable
from pages.services.commands import run_command
from pages.services.open_file import Replaced, cursor, described, version_of
from pages.words import say as words
from precompute.store.check import faults
from precompute.store.show import lines
from tests.hostile_files import (
    IGNORED,
    NO_FILE_OF_OURS,
    REFUSED,
    SECRET,
    change,
    write_sound_file,
)
from tests.pages.conftest import OTHER_SCHEMA, captions
from tests.pages.kit.stores import changed_copy, lacking
from tests.small_store import manifest_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh")]

OURS = {"run": 1, "provenance": 6}
OF_RUN = [name for name in IGNORED if name.startswith("run ")]
OTHERS = [name for name in IGNORED if name not in OF_RUN]
TOGETHER = [(name, *OTHERS[n :: len(OF_RUN)]) for n, name in enumerate(OF_RUN)]
"""A file has one view called run; whatever else can be wrong is wrong in one of the same files."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return write_sound_file(tmp_path_factory.mktemp("sound") / "sound.duckdb")


@pytest.fixture
def secret(tmp_path) -> Path:
    path = tmp_path / "private" / "secret.txt"
    path.parent.mkdir()
    path.write_text(SECRET)
    return path


@pytest.fixture
def path(sound, tmp_path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "foreign.duckdb"))


def _messages(path: Path, error: Exception, monkeypatch) -> str:
    """Messages of the pages, in both languages."""
    messages = []
    for language in words.LANGUAGES:
        monkeypatch.setattr(words, "language", lambda language=language: language)
        messages.append(why_unreadable(path, error))
    assert len(set(messages)) == len(messages)
    return "\n".join(messages)


@pytest.mark.parametrize("together", TOGETHER, ids=lambda names: names[0])
def test_only_what_the_tables_of_a_file_hold_is_shown(together, path, secret):
    for name in together:
        change(path, IGNORED[name], secret)
    store = described(version_of(path))
    assert store.rows["run"] == OURS["run"]
    assert store.run["schema_version"] == SCHEMA_VERSION
    assert len(store.facts) == OURS["provenance"]
    with cursor(version_of(path)) as opened:
        assert opened.execute("from sequence").fetchall() == []
        assert opened.execute("from token").fetchall() == []
        assert opened.execute("select length('abc'), sum(1)").fetchall() == [(3, 1)]
        with pytest.raises(duckdb.PermissionException):
            opened.execute(f"from read_text('{secret}')")


def test_a_question_that_takes_too_long_is_stopped(path, monkeypatch):
    monkeypatch.setattr(open_file, "SECONDS", 0.2)
    version = version_of(path)
    with pytest.raises(TooSlow) as error, cursor(version) as opened:
        opened.execute("select count(*) from range(1000000000000)").fetchall()
    assert str(error.value) == "It took longer than 0.2 s to read and was stopped."
    assert "0.2" in _messages(path, error.value, monkeypatch)


@pytest.mark.parametrize("case", [*REFUSED, *NO_FILE_OF_OURS])
def test_a_file_whose_tables_are_not_ours_is_refused(case, path, secret, monkeypatch):
    """Commands open files as pages do, by `foreign_file.attach`; some cases try it."""
    if case in REFUSED:
        statements, reason = REFUSED[case]
        change(path, statements, secret)
    else:
        NO_FILE_OF_OURS[case](path, secret)
        reason = ""
    error = readable(path)
    assert isinstance(error, Exception)
    text = _messages(path, error, monkeypatch)
    if reason:
        assert isinstance(error, UserError)
        assert reason in str(error)
    if not reason or [*REFUSED].index(case) % 6 == 0:
        found = faults(path)
        assert any(reason in fault for fault in found)
        with pytest.raises(UserError) as refused:
            list(lines(path))
        assert reason in str(refused.value)
        text += f"{found}{refused.value}"
    assert SECRET not in text


def test_an_answer_that_no_memory_should_hold_is_refused_before_it_is_there(path, monkeypatch):
    monkeypatch.setattr("analysis.statistics.question.LARGEST_ANSWER", 2**20)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with cursor(version_of(path)) as opened:
        for many in ("range", "repeat('x', 900) as text", "range(90) as list"):
            with pytest.raises(TooLarge) as error:
                frame_of(opened, f"select {many} from range(1000000000)")
        assert len(frame_of(opened, "from range(100000)")) == 100_000
    assert "1 MiB" in _messages(path, error.value, monkeypatch)
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 200 * 2**10  # KiB


@pytest.mark.parametrize("names_another", [True, False], ids=["of the file", "ours"])
def test_a_page_that_fails_by_a_changed_file_names_the_table_and_else_the_fault_is_seen(
    names_another, store_folder, tmp_path, opened, monkeypatch
):
    monkeypatch.setattr("pages.kit.page.fill", Mock(side_effect=RuntimeError))
    path = Path(shutil.copy(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb"))
    strange = "update stored.layer_cohesion set weighing = 'strange'"
    change(path, (strange, *(() if names_another else (manifest_of("layer_cohesion"),))), path)
    session = opened("head_map", tmp_path, hm_view="layers")
    assert bool(session.exception) is not names_another
    if names_another:
        assert r"layer\_cohesion" in session.error[0].value
        assert "is not what it was" in session.error[0].value


REQUIRE = """
import streamlit as st
from analysis.statistics.norms import TOKEN_TYPE_MIXING
from pages.services.chosen import file_picker, open_store
from pages.services.missing import require
file_picker()
require(open_store(), TOKEN_TYPE_MIXING)
st.text("goes on")
"""


def test_a_missing_statistic_names_the_files_that_have_it_and_the_command(
    store_folder, tmp_path, in_session
):
    changed_copy(store_folder, tmp_path, *lacking("token_type_mixing"))
    os.replace(tmp_path / "tiny.duckdb", tmp_path / "partial.duckdb")
    copyfile(store_folder / "tiny.duckdb", tmp_path / "whole.duckdb")
    session = in_session(REQUIRE, tmp_path, file="partial.duckdb")
    assert not session.text
    assert "token_type_mixing" in session.info[0].value
    assert r"whole\.duckdb" in captions(session)
    assert "--statistics token_type_mixing" in session.code[0].value
    assert "--max-tokens 36" in session.code[0].value
    assert in_session(REQUIRE, tmp_path, file="whole.duckdb").text[0].value == "goes on"


def test_the_command_repeats_the_settings_that_differ_from_the_defaults(store_folder):
    store = described(version_of(store_folder / "tiny.duckdb"))
    facts = store.facts | {"limit": "7", "packing": "sentences", "frequencies": "rank count.txt"}
    run = store.run.copy()
    run["model"], run["corpus"], run["mask_rate"] = "a model", "text.txt", 0.12
    command = run_command(run, facts, Path("statistics/new.duckdb"))
    assert command == (
        "python -m precompute run --model 'a model' --corpus text.txt "
        "--output statistics/new.duckdb --mask 0.12 --max-tokens 36 --limit 7 "
        "--check-sequences 32 "
        "--packing sentences --frequencies 'rank count.txt'"
    )


def test_a_file_that_is_written_and_one_that_is_damaged_are_told_apart():
    locked = shell.why_unreadable(Path("x.duckdb"), Locked("x.duckdb", "PID 7"))
    damaged = shell.why_unreadable(Path("x.duckdb"), duckdb.IOException("x.duckdb is odd"))
    assert "is locked by a program that is writing to it" in locked
    assert locked.endswith("(PID 7)")
    assert "it is damaged" in damaged


def test_a_page_without_a_file_that_opens_names_the_remedy(
    opened, other_schema_folder, damaged_folder, tmp_path
):
    for folder, *parts in (
        (other_schema_folder, str(OTHER_SCHEMA), "python -m precompute run"),
        (damaged_folder, r"damaged\.duckdb", "python -m precompute check"),
    ):
        [error] = opened("syntax", folder, alone=True).error
        assert all(part in error.value for part in parts)
    session = opened("syntax", tmp_path)
    assert [button.label for button in session.button] == ["Build the demo"]


@pytest.fixture
def new(changed) -> Path:
    """A file with another content, outside the folder."""
    return changed("delete from stored.sequence where seq > 0") / "tiny.duckdb"


@pytest.fixture
def present(store_folder, tmp_path) -> Path:
    return Path(copyfile(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb"))


def test_a_file_that_was_refused_is_not_opened_again_until_it_is_replaced(
    changed, present, monkeypatch
):
    opened = []
    monkeypatch.setattr(
        open_file, "attach", lambda store, path: opened.append(path) or attach(store, path)
    )
    old = changed("update stored.run set schema_version = 1") / "tiny.duckdb"
    for _ in range(3):
        with pytest.raises(OtherSchema, match="schema version 1"):
            described(version_of(old))
    assert len(opened) == 1
    os.replace(present, old)
    assert described(version_of(old)).rows["sequence"] == 3
    assert len(opened) == 2


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


def test_a_page_shows_one_file_though_another_takes_its_place(present, new, in_session):
    session = in_session(PAGE, present.parent, new=str(new))
    assert not session.exception
    n_lengths, is_same, content = (text.value for text in session.text)
    assert is_same == "True"
    session.run()
    n_now, is_same, content_now = (text.value for text in session.text)
    assert is_same == "True"
    assert content_now != content
    assert n_now != n_lengths


def test_a_file_that_is_replaced_between_finding_and_opening_is_not_taken_for_the_other(
    present, new, in_session, monkeypatch
):
    """The page looks again, and does not begin anew, which loses the page that a link asks for."""

    def replaced(store, place: str, **given: str) -> None:
        if new.exists():
            os.replace(new, present)
        attach(store, place, **given)

    monkeypatch.setattr(open_file, "attach", replaced)
    monkeypatch.setattr(st, "rerun", lambda: pytest.fail("begins anew"))
    version = version_of(present)
    kept = Path(copyfile(new, new.with_name("kept")))
    with pytest.raises(Replaced), cursor(version):
        pytest.fail("this is the other file")
    os.replace(kept, new)
    session = in_session(PAGE, present.parent, new=str(new))
    assert not [*session.exception, *session.error]
    assert [text.value for text in session.text][:2] == ["1", "True"]
