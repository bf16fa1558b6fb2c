"""Where the parts of a section stand: one toolbar, then charts, each with the pickers of its own.

A picker that is drawn before the first chart stands in the toolbar; one that comes later stands in
a row above the chart that follows it. A finding waits for the chart that shows it.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import streamlit as st

from pages.ui.words.say import say

_FULL = 5  # pickers in a row


class Stage:
    """A section while it is drawn: where the next picker stands, and the finding that waits."""

    def __init__(self) -> None:
        self._room = _row("toolbar")
        self._n_pickers = 0
        self._headline: list[str] = []
        self._notes: list[str] = []
        self._n_rows = 0

    def room(self) -> Any:
        """The row that is open just now."""
        if self._room is None:
            self._n_rows += 1
            self._room, self._n_pickers = _row(f"corner_{self._n_rows}"), 0
        return self._room

    def place(self) -> Any:
        """Where the next picker stands: one that finds its row full is a click away."""
        self._n_pickers += 1
        row = self.room()
        if self._n_pickers == _FULL + 1:
            self._room = row.popover(say("page.more"), key=f"more_{self._n_rows}")
        return self._room

    def announce(self, finding: str) -> None:
        """Keep a finding for the chart that shows it."""
        self._headline.append(finding)

    @contextmanager
    def fold(self, title: str) -> Iterator[None]:
        """Pickers that are rarely used, a click away."""
        row = self.room()
        self._room = row.popover(title)
        try:
            with self._room:
                yield
        finally:
            self._room = row

    def note(self, text: str) -> None:
        """Keep what helps to read the next chart."""
        self._notes.append(text)

    def begin(self) -> str:
        """A chart is drawn next, and pickers after it are not for it; returns its headline."""
        headline, self._headline, self._room = " ".join(self._headline), [], None
        return headline

    def notes(self) -> list[str]:
        """What helps to read the chart that was just drawn."""
        notes, self._notes = self._notes, []
        return notes


_STAGE: ContextVar[Stage | None] = ContextVar("section that is drawn", default=None)


@contextmanager
def staged() -> Iterator[None]:
    """Draw a section: its toolbar comes first, and a finding without a chart comes last."""
    stage = Stage()
    token = _STAGE.set(stage)
    try:
        yield
        for text in (stage.begin(), *stage.notes()):
            if text:
                st.markdown(text)
    finally:
        _STAGE.reset(token)


def room() -> Any:
    """The row for what stands beside pickers; the place that is open outside of a section."""
    stage = _STAGE.get()
    return stage.room() if stage else nullcontext()


def place() -> Any:
    """The row for the next picker; the place that is open outside of a section."""
    stage = _STAGE.get()
    return stage.place() if stage else nullcontext()


def is_staged() -> bool:
    """Whether a section is drawn, so that pickers share a row."""
    return _STAGE.get() is not None


def announce(finding: str) -> None:
    """Make a sentence the headline of the next chart."""
    stage = _STAGE.get()
    if stage:
        stage.announce(finding)
    else:
        st.markdown(finding)


def begin() -> str:
    """The headline of the chart that is drawn next; empty if nothing was found."""
    stage = _STAGE.get()
    return stage.begin() if stage else ""


@contextmanager
def fold(title: str) -> Iterator[None]:
    """Pickers that are rarely used, a click away, under a title."""
    stage = _STAGE.get()
    with stage.fold(title) if stage else st.popover(title):
        yield


def note(text: str) -> None:
    """Keep what helps to read the next chart for where that is said."""
    stage = _STAGE.get()
    if stage:
        stage.note(text)
    else:
        st.markdown(text)


def notes() -> list[str]:
    """What was kept for the chart that was just drawn."""
    stage = _STAGE.get()
    return stage.notes() if stage else []


def _row(name: str) -> Any:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=name)
