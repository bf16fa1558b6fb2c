"""What a reader sees while others run the model, and how they leave the queue."""

from collections.abc import Callable
from itertools import count
from typing import Any, NoReturn, ParamSpec, TypeVar

import streamlit as st

from pages.ui.choices.address import stop
from pages.ui.live.turns import Full, NotYourTurn, Turns
from pages.ui.words.say import say

MOST_WAITING = 20
"""Sessions; each computation takes seconds, so that the last of them waits a minute or two."""
_CANCELLED = "left the queue of the model"
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def in_turn(of: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
    """What a function that runs the model gives: at once if it is kept, else when it is our turn.

    The page stops, and the reader is told why, where too many wait or they wait no longer.

    Args:
        of: asks `turns().check()` before it runs the model.
    """
    try:
        return of(*given, **named)
    except NotYourTurn:
        notice = _Notice()
    if st.session_state.pop(_CANCELLED, False):
        _stopped(say("live.cancelled"))
    try:
        with turns().turn(notice.tell):
            notice.gone()
            return of(*given, **named)
    except Full:
        _stopped(say("live.full", n=turns().most))


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    """The one queue of this server."""
    return Turns(MOST_WAITING)


def _stopped(reason: str) -> NoReturn:
    st.warning(reason)
    st.button(say("live.again"))
    stop()


class _Notice:
    """How many come first, with a button to leave: a click ends the run that waits.

    Streamlit ends it as soon as it draws again, which it does every moment.
    """

    def __init__(self) -> None:
        self._place = st.empty()
        self._told: Any = None

    def tell(self, before: int) -> None:
        if self._told is None:
            with self._place.container():
                self._told = st.empty()
                st.button(say("live.cancel"), key=f"cancel-{next(_numbers())}", on_click=_cancel)
        self._told.info(say("live.waiting", n=before))

    def gone(self) -> None:
        self._place.empty()


@st.cache_resource(show_spinner=False)
def _numbers() -> Any:
    """Names for buttons, of which a page may not draw one twice."""
    return count()


def _cancel() -> None:
    st.session_state[_CANCELLED] = True
