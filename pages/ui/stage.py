"""Where the parts of a section stand: one toolbar, then charts, each with the pickers of its own.

A picker that is drawn before the first chart stands in the toolbar; one that comes later stands in
a row above the chart that follows it. A finding waits for the chart that shows it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import streamlit as st

from pages.ui.words.say import say

_FULL = 5  # pickers in a row


class Outside:
    """Where no section is drawn: everything stands where it is called."""

    shares_rows = has_bar = False
    papers: tuple[str, ...] = ()
    """Keys of the papers behind what is shown."""
    queries: Sequence[str] = ()
    """The SQL that was asked so far."""
    own_question: str = ""
    """The reader's own SQL behind what is shown, whose columns keep the names it gives them."""
    stores: Sequence[Any] = ()
    """The files that were asked so far."""

    def room(self) -> Any:
        """The row that is open just now."""
        return nullcontext()

    def place(self) -> Any:
        """Where the next picker stands."""
        return nullcontext()

    def bar(self) -> Any:
        """The place of the head in the bar of the page."""
        return nullcontext()

    def fold(self, title: str) -> Any:
        """Where pickers stand that are rarely used, a click away, under a title."""
        return st.popover(title)

    def announce(self, finding: str) -> None:
        """Make a sentence the headline of the next chart."""
        st.markdown(finding)

    def note(self, text: str) -> None:
        """Keep what helps to read the next chart."""
        st.markdown(text)

    def begin(self) -> str:
        """A chart is drawn next, and pickers after it are not for it; returns its headline."""
        return ""

    def notes(self) -> list[str]:
        """What helps to read the chart that was just drawn."""
        return []

    def hear(self, queries: list[str], store: Any) -> None:
        """Keep the SQL of an answer, and which file gave it."""

    def ask(self, sql: str) -> None:
        """Keep the SQL that the reader wrote."""


class Stage(Outside):
    """A section while it is drawn: where the next picker stands, and the finding that waits."""

    shares_rows = True

    def __init__(self, bar: Any, papers: tuple[str, ...]) -> None:
        self.papers, self.queries, self.stores = papers, [], []
        self._bar, self.has_bar = bar, True
        self._room = _row("toolbar")
        self._n_pickers = 0
        self._headline: list[str] = []
        self._notes: list[str] = []
        self._n_rows = 0

    def room(self) -> Any:
        if self._room is None:
            self._n_rows += 1
            self._room, self._n_pickers = _row(f"corner_{self._n_rows}"), 0
        return self._room

    def place(self) -> Any:
        """One that finds its row full is a click away."""
        self._n_pickers += 1
        row = self.room()
        if self._n_pickers == _FULL + 1:
            self._room = row.popover(say("page.more"), key=f"more_{self._n_rows}")
        return self._room

    def bar(self) -> Any:
        self.has_bar = False  # it is taken
        return self._bar

    def announce(self, finding: str) -> None:
        self._headline.append(finding)

    @contextmanager
    def fold(self, title: str) -> Iterator[None]:
        row = self.room()
        self._room = row.popover(title)
        try:
            with self._room:
                yield
        finally:
            self._room = row

    def note(self, text: str) -> None:
        self._notes.append(text)

    def begin(self) -> str:
        headline, self._headline, self._room = " ".join(self._headline), [], None
        return headline

    def notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def hear(self, queries: list[str], store: Any) -> None:
        self.queries = list(dict.fromkeys([*self.queries, *queries]))
        if all(each.version != store.version for each in self.stores):
            self.stores = [*self.stores, store]

    def ask(self, sql: str) -> None:
        self.own_question = sql
        self.queries = list(dict.fromkeys([*self.queries, sql]))


_OUTSIDE = Outside()
_STAGE: ContextVar[Stage | None] = ContextVar("section that is drawn", default=None)


def stage() -> Outside:
    """The section that is drawn; outside of one, all stands where it is called."""
    return _STAGE.get() or _OUTSIDE


@contextmanager
def staged(bar: Any, papers: tuple[str, ...]) -> Iterator[None]:
    """Draw a section: its toolbar comes first, and a finding without a chart comes last.

    Args:
        bar: the place of the head in the bar of the page.
        papers: keys of those behind what is shown.
    """
    drawn = Stage(bar, papers)
    token = _STAGE.set(drawn)
    try:
        yield
        for text in (drawn.begin(), *drawn.notes()):
            if text:
                st.markdown(text)
    finally:
        _STAGE.reset(token)


def _row(name: str) -> Any:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=name)
