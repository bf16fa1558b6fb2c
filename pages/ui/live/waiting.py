"""Notices for readers who wait for the model or for its result, with a button to leave."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock, Timer
from typing import Any, NoReturn, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx

from pages.ui.choices.address import stop
from pages.ui.live.model_queue import Full, NotYourTurn, Turns
from pages.ui.words.say import say

MOST_WAITING = 20
"""Sessions; each computation takes seconds, so that the last of them waits a minute or two."""
SOON = 0.5
"""Seconds before a computation can be cancelled; most end earlier."""
_CANCELLED = "left the queue of the model"
_NUMBERS = count()  # of buttons, of which a page may not draw two under one name
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def in_turn(of: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
    """Return the result of a function that runs the model: cached, or after waiting for our turn.

    If the queue is full, or the reader leaves it, the page stops and says why. A click of the
    reader ends a computation between two operations.

    Args:
        of: calls `turns().check()` before it runs the model.
    """
    try:
        return of(*given, **named)
    except NotYourTurn:
        notice = _Notice()
    if st.session_state.pop(_CANCELLED, False):
        _stopped(say("live.cancelled"))
    try:
        with turns().turn(notice.tell), notice.running():
            return of(*given, **named)
    except Full:
        _stopped(say("live.full", n=turns().most))


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    """The only queue of this server."""
    return Turns(MOST_WAITING)


def _stopped(reason: str) -> NoReturn:
    st.warning(reason)
    st.button(say("live.again"))
    stop()


def look_up() -> None:
    """End the run of a page whose reader clicked during a computation of the model.

    A cached function may draw nothing, but reading the session's state is allowed, and Streamlit
    ends a run there as well.
    """
    _ = _CANCELLED in st.session_state


class _Notice:
    """Number of threads ahead, with a button to leave; a click ends the waiting or computing run.

    Streamlit ends a run at its next drawing, and a waiting run draws every moment.
    """

    def __init__(self) -> None:
        self._place = st.empty()
        self._message: Any = None
        self._is_over, self._lock = False, Lock()

    def tell(self, before: int) -> None:
        if self._message is None:
            with self._place.container():
                self._message = st.empty()
                self._draw_button()
        self._message.info(say("live.waiting", n=before))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the button alone while the model runs, unless that takes no time."""
        if self._message is not None:
            self._message.empty()
        timer = Timer(SOON, self._offer)
        add_script_run_ctx(timer)
        if self._message is None:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                self._is_over = True
        self._place.empty()

    def _offer(self) -> None:
        """Draw the button from another thread, as the run draws nothing while it computes."""
        with self._lock:
            if not self._is_over:
                with self._place.container():
                    self._draw_button()

    def _draw_button(self) -> None:
        st.button(say("live.cancel"), key=f"cancel-{next(_NUMBERS)}", on_click=_cancel)


def _cancel() -> None:
    st.session_state[_CANCELLED] = True
