"""Readers see the queue for the model, and may leave it while they wait or the model runs.

Cached results need no turn.
"""

from collections.abc import Iterator
from threading import Event, Thread, Timer

import pytest
import streamlit as st
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from pages.ui.live import waiting
from pages.ui.live.model_queue import Turns
from pages.ui.live.waiting import MOST_WAITING, turns
from tests.pages.conftest import assert_sound

PAGE = """
import streamlit as st
from pages.ui.live.waiting import in_turn, turns

@st.cache_data(show_spinner=False)
def slow(n):
    turns().check()
    return n + 1

st.session_state["found"] = in_turn(slow, 1)
st.text("whole")
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()


def _others(queue: Turns, n: int, done: Event) -> list[Thread]:
    """Threads that run or wait until they are released."""

    def hold() -> None:
        with queue.turn(lambda _: None):
            done.wait(60)

    threads = [Thread(target=hold) for _ in range(n)]
    for thread in threads:
        thread.start()
    while len(queue._tickets) < n:
        pass
    return threads


def test_who_is_first_sees_nothing_of_a_queue(in_session, store_folder):
    session = in_session(PAGE, store_folder)
    assert_sound(session)
    assert session.session_state["found"] == 2
    assert not session.button
    assert not session.info


def test_who_comes_later_waits_and_then_has_the_result(in_session, store_folder):
    done = Event()
    threads = _others(turns(), 2, done)
    Timer(0.5, done.set).start()
    session = in_session(PAGE, store_folder)
    for thread in threads:
        thread.join(60)
    assert_sound(session)
    assert session.session_state["found"] == 2
    assert not session.info, "nobody comes first any longer"


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_more_than_may_wait_are_told_to_come_again(in_session, store_folder, lang):
    done = Event()
    threads = _others(turns(), MOST_WAITING + 1, done)
    session = in_session(PAGE, store_folder, lang=lang)
    assert_sound(session)
    (warning,) = session.warning
    assert str(MOST_WAITING) in warning.value
    assert "found" not in session.session_state
    done.set()
    for thread in threads:
        thread.join(60)
    (again,) = session.button
    again.click().run()
    assert session.session_state["found"] == 2


def test_who_cancelled_has_nothing_computed_until_they_ask_again(in_session, store_folder):
    cancelled = 'st.session_state.setdefault("left the queue of the model", True)\n'
    page = PAGE.replace("\n@st", f"\nif 'begun' not in st.session_state:\n    {cancelled}"
                        "st.session_state['begun'] = True\n@st", 1)  # fmt: skip
    session = in_session(page, store_folder)
    assert_sound(session)
    (warning,) = session.warning
    assert "Cancelled" in warning.value
    assert "found" not in session.session_state
    session.button[0].click().run()
    assert session.session_state["found"] == 2


BEGUN = Event()
LONG = """
import time
import streamlit as st
import torch
from pages.ui.live.waiting import in_turn, look_up, turns
from precompute.live.stopping import stoppable
from tests.pages.ui.live.test_waiting import BEGUN

@st.cache_data(show_spinner=False)
def slow(n):
    turns().check()
    until = time.monotonic() + n
    found = torch.zeros(())
    with stoppable(look_up):
        while time.monotonic() < until:
            found = found + 1
            BEGUN.set()
            time.sleep(0.01)
    return float(found)

st.session_state["found"] = in_turn(slow, {seconds})
st.text("whole")
"""


def test_a_computation_that_runs_ends_where_its_reader_clicks(
    in_session, store_folder, monkeypatch
):
    """Streamlit signals a click to a running page in the same way as a stop."""
    runners: list[LocalScriptRunner] = []
    start = LocalScriptRunner.start

    def noted(runner: LocalScriptRunner) -> None:
        runners.append(runner)
        start(runner)

    monkeypatch.setattr(LocalScriptRunner, "start", noted)
    monkeypatch.setattr(waiting, "SOON", 0.0)
    BEGUN.clear()
    clicked = Thread(target=lambda: BEGUN.wait(60) and runners[0].request_stop())
    clicked.start()
    session = in_session(LONG.format(seconds=3600), store_folder)
    clicked.join()
    assert "found" not in session.session_state
    assert not session.text
    assert [button.label for button in session.button] == ["Cancel"]
    assert not turns()._tickets, "the next one's turn"


def test_a_computation_that_ends_by_itself_leaves_no_button(in_session, store_folder, monkeypatch):
    monkeypatch.setattr(waiting, "SOON", 0.0)
    session = in_session(LONG.format(seconds=0.1), store_folder)
    assert_sound(session)
    assert session.session_state["found"] > 0
    assert [text.value for text in session.text] == ["whole"]
    assert not session.button
