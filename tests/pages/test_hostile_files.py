"""Files from any source show nothing but themselves, or are refused in plain words."""

import shutil
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import duckdb
import pytest

from analysis.errors import UserError
from analysis.foreign_file import attach
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.question import TooLarge, frame_of
from analysis.time_limit import TooSlow
from pages.services import open_file
from pages.services.chosen import readable, why_unreadable
from pages.services.open_file import Store, cursor, described, version_of
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
from tests.pages.conftest import assert_sound
from tests.small_store import manifest_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh")]

OURS = {"run": 1, "provenance": 6}
OF_RUN = [name for name in IGNORED if name.startswith("run ")]
BY_COMMANDS = [*REFUSED][::6]
"""Cases on which commands are tried too; they open files as pages do, by `foreign_file.attach`."""
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


def _checked(path: Path, reason: str = "") -> str:
    """Messages of the command line on a refused file, of which each says why."""
    messages = "\n".join(faults(path))
    assert messages
    with pytest.raises(UserError) as error:
        list(lines(path))
    assert reason in messages
    assert reason in str(error.value)
    return f"{messages}\n{error.value}"


def test_the_file_that_all_others_are_made_of_opens(path):
    store = readable(path)
    assert isinstance(store, Store)
    assert {name: n for name, n in store.rows.items() if n} == OURS


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


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_whose_tables_are_not_ours_is_refused(case, path, secret, monkeypatch):
    statements, reason = REFUSED[case]
    change(path, statements, secret)
    error = readable(path)
    assert isinstance(error, UserError)
    assert reason in str(error)
    checked = _checked(path, reason) if case in BY_COMMANDS else ""
    assert SECRET not in _messages(path, error, monkeypatch) + checked


@pytest.mark.parametrize("case", NO_FILE_OF_OURS)
def test_what_is_no_file_of_ours_is_refused(case, path, secret, monkeypatch):
    NO_FILE_OF_OURS[case](path, secret)
    error = readable(path)
    assert isinstance(error, Exception)
    messages = _messages(path, error, monkeypatch) + _checked(path)
    assert SECRET not in messages


def test_a_dangling_link_and_a_folder_are_not_in_the_list(tmp_path, in_session):
    (tmp_path / "gone.duckdb").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.duckdb").mkdir()
    session = in_session("from pages.services.chosen import open_store\nopen_store()", tmp_path)
    assert_sound(session)
    assert session.button


def test_a_question_that_takes_too_long_is_stopped(path, monkeypatch):
    monkeypatch.setattr(open_file, "SECONDS", 0.2)
    version = version_of(path)
    with pytest.raises(TooSlow) as error, cursor(version) as opened:
        opened.execute("select count(*) from range(1000000000000)").fetchall()
    assert str(error.value) == "It took longer than 0.2 s to read and was stopped."
    assert "0.2" in _messages(path, error.value, monkeypatch)


def test_a_question_that_takes_too_much_memory_is_stopped(path, monkeypatch):
    monkeypatch.setattr("analysis.foreign_file.MEMORY", "50MB")
    with cursor(version_of(path)) as opened, pytest.raises(duckdb.OutOfMemoryException) as error:
        opened.execute("select max(l) from (select list(range) as l from range(20000000))")
    assert "2GB" in _messages(path, error.value, monkeypatch)


def test_an_answer_that_no_memory_should_hold_is_refused_before_it_is_there(path, monkeypatch):
    monkeypatch.setattr("analysis.statistics.question.LARGEST_ANSWER", 2**20)
    before = _memory()
    with cursor(version_of(path)) as opened:
        for many in ("range", "repeat('x', 900) as text", "range(90) as list", "1 as a, 2 as b"):
            with pytest.raises(TooLarge) as error:
                frame_of(opened, f"select {many} from range(1000000000)")
        assert len(frame_of(opened, "from range(100000)")) == 100_000
    assert "1 MiB" in _messages(path, error.value, monkeypatch)
    assert _memory() - before < 200 * 2**20


def _memory() -> int:
    """Peak memory of this process, in bytes."""
    return getrusage(RUSAGE_SELF).ru_maxrss * 1024


def test_a_page_says_that_an_answer_is_too_large(store_folder, opened, monkeypatch):
    monkeypatch.setattr("analysis.statistics.question.LARGEST_ANSWER", 100)
    session = opened("head_map", store_folder, hm_view="layers")
    assert_sound(session)
    (error,) = session.error
    assert "SQL" in error.value


def test_settings_of_an_open_file_cannot_be_changed(path):
    with duckdb.connect() as store:
        attach(store, str(path))
        for setting in ("enable_external_access = true", "memory_limit = '1TB'"):
            with pytest.raises(duckdb.InvalidInputException):
                store.execute(f"set {setting}")


STRANGE = "update stored.layer_cohesion set weighing = 'strange'"


@pytest.mark.parametrize("names_another", [True, False], ids=["of the file", "ours"])
def test_a_page_that_fails_by_a_changed_file_names_the_table_and_else_the_fault_is_seen(
    names_another, store_folder, tmp_path, opened, monkeypatch
):
    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("pages.kit.page.fill", fails)
    path = Path(shutil.copy(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb"))
    change(path, (STRANGE, *(() if names_another else (manifest_of("layer_cohesion"),))), path)
    session = opened("head_map", tmp_path, hm_view="layers")
    if not names_another:
        assert session.exception
        return
    assert_sound(session)
    (error,) = session.error
    assert r"layer\_cohesion" in error.value
    assert "is not what it was" in error.value
