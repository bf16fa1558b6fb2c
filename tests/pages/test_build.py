"""The demo is built once, all visitors see its progress, and a failure is reported."""

import pytest
import streamlit as st

from pages.services import build
from pages.services.note import Note
from tests.pages.kit.chromium import wait_until

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


def started() -> build.Build:
    made = build._workshop().build
    assert made, "nothing was started"
    return made


@pytest.mark.parametrize(
    ("left", "lang", "expected"),
    [
        (170.0, "en", "Running the model over the texts: 64 of 144, about 3 min left"),
        (170.0, "ja", "各テキストへのモデルの適用：144件中64件、残り約3分"),
        (None, "en", "Running the model over the texts: 64 of 144"),
    ],
)
def test_progress_is_shown_to_every_visitor_and_only_one_build_runs(
    monkeypatch, in_session, tmp_path, left, lang, expected
):
    program(monkeypatch, "import time; time.sleep(60)")
    note = Note("sequences", 64, 144, left, "here", 1)
    monkeypatch.setattr(build, "note_beside", lambda output: note)
    first = in_session(PAGE, lang=lang)
    first.button[0].click().run()
    running = started()
    for visitor in (first.run(), in_session(PAGE, lang=lang)):
        assert not [*visitor.exception, *visitor.button]
        assert visitor.get("progress")[0].proto.text == expected
    build._workshop().start(tmp_path)
    assert started() is running


def test_readers_who_may_only_read_start_no_build(monkeypatch, in_session, tmp_path):
    monkeypatch.setenv("MIXSCOPE_READ_ONLY", "1")
    session = in_session(PAGE, tmp_path)
    assert not [*session.exception, *session.button, *session.code]
    [explained] = session.main.markdown
    assert tmp_path.name not in explained.value


@pytest.mark.slow
def test_a_build_that_fails_tells_its_last_lines_and_one_that_is_done_is_opened(
    monkeypatch, in_session, store_folder
):
    program(monkeypatch, "print('no space left'); raise SystemExit(1)")
    session = in_session(PAGE)
    session.button[0].click().run()
    wait_until(lambda: started().process.poll() is not None and started().lines, 20)
    session.run()
    assert session.error[0].value == "The build failed. Its last lines:"
    assert session.code[0].value == "no space left"
    source = store_folder / "tiny.duckdb"
    program(monkeypatch, f"import shutil; shutil.copyfile({str(source)!r}, {{output!r}})")
    failed = started()
    session.button[0].click().run()
    wait_until(lambda: started() is not failed and started().process.poll() is not None, 20)
    assert session.run().text[0].value == "demo.duckdb"
