"""The demo is built once, all visitors see its progress, and a failure is reported."""

import sys
import time
from dataclasses import replace

import pytest
import streamlit as st

from pages.services import build
from pages.services.note import Note

SOME = Note("sequences", 64, 144, 170.0, "here", 1)
RUNNING = "Running the model over the texts"

PAGE = (
    "import streamlit as st\nfrom pages.services.chosen import open_store\n"
    "st.text(open_store().name)"
)


@pytest.fixture(autouse=True)
def no_build_is_left():
    st.cache_resource.clear()
    yield
    if started := build._workshop().build:
        started.process.kill()
        started.process.wait()
    st.cache_resource.clear()


def program(monkeypatch, text: str) -> None:
    monkeypatch.setattr(build, "_arguments", lambda output: ["-c", text.format(output=str(output))])


def under_way() -> build.Build:
    started = build._workshop().build
    assert started, "nothing was started"
    return started


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.05)


def test_the_build_is_a_process_of_this_python_without_a_shell(monkeypatch, tmp_path):
    seen = {}

    def popen(arguments, **settings):
        seen.update(settings, arguments=arguments)
        raise FileNotFoundError

    monkeypatch.setattr(build.subprocess, "Popen", popen)
    with pytest.raises(FileNotFoundError):
        build._Workshop().start(tmp_path / "demo.duckdb")
    expected = ["-u", "-m", "precompute", "demo", "--output", str(tmp_path / "demo.duckdb")]
    assert seen["arguments"] == [sys.executable, *expected]
    assert not seen.get("shell")


@pytest.mark.parametrize(
    ("note", "lang", "expected"),
    [
        (SOME, "en", "Running the model over the texts: 64 of 144, about 3 min left"),
        (SOME, "ja", "各テキストへのモデルの適用：144件中64件、残り約3分"),
        (replace(SOME, seconds_left=None), "en", f"{RUNNING}: 64 of 144"),
        (replace(SOME, stage="model", done=0, total=0), "en", "Loading the model …"),
        (None, "en", "Starting …"),
    ],
)
def test_progress_is_shown_to_every_visitor_and_only_one_build_runs(
    monkeypatch, in_session, tmp_path, note, lang, expected
):
    program(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(build, "note_beside", lambda output: note)
    first = in_session(PAGE, lang=lang)
    first.button[0].click().run()
    started = under_way()
    for visitor in (first.run(), in_session(PAGE, lang=lang)):
        assert not visitor.exception
        assert not visitor.button
        assert visitor.get("progress")[0].proto.text == expected
    build._workshop().start(tmp_path)
    assert under_way() is started


def test_readers_who_may_only_read_start_no_build(monkeypatch, in_session, tmp_path):
    monkeypatch.setenv("MIXSCOPE_READ_ONLY", "1")
    session = in_session(PAGE, tmp_path)
    assert not session.exception
    assert not session.button
    assert not session.code
    [explained] = session.main.markdown
    assert tmp_path.name not in explained.value
    assert build._workshop().build is None


def test_a_build_that_fails_tells_its_last_lines_and_can_be_tried_again(monkeypatch, in_session):
    program(monkeypatch, "import sys; print('no space left'); sys.exit(1)")
    session = in_session(PAGE)
    session.button[0].click().run()
    wait_for(lambda: under_way().process.poll() is not None)
    wait_for(lambda: under_way().lines)
    session.run()
    assert session.error[0].value == "The build failed. Its last lines:"
    assert session.code[0].value == "no space left"
    assert [button.label for button in session.button] == ["Build the demo"]


def test_a_build_that_is_done_is_opened(monkeypatch, in_session, store_folder, tmp_path):
    source = store_folder / "tiny.duckdb"
    program(monkeypatch, f"import shutil; shutil.copyfile({str(source)!r}, {{output!r}})")
    session = in_session(PAGE)
    session.button[0].click().run()
    wait_for(lambda: under_way().process.poll() is not None)
    assert session.run().text[0].value == "demo.duckdb"
