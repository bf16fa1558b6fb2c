"""Layout of a section: one toolbar, then charts, each with its own pickers.

A picker that is drawn before the first chart stands in the toolbar. A later one stands in a row
above the chart that follows it. A finding is kept for the next chart.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import streamlit as st

from analysis.statistics.table import Table
from pages.ui.holding import holding
from pages.ui.words.say import say

_FULL = 5  # pickers in a row


@dataclass(frozen=True)
class Picked:
    """A picker's column, label, options and value.

    `options` maps names in the address to display names; the value is a name in the address.
    """

    column: str
    label: str
    options: Mapping[str, str]
    chosen: str


class Outside:
    """Default stage outside a section: everything is drawn in place."""

    shares_rows = has_bar = is_unseen = False
    redraw: Callable[[], None] | None = None
    """Draws the section once more."""
    needs: Sequence[Table] = ()
    """The tables without which the section has nothing to draw."""
    picked: Mapping[str, Picked] = {}
    """Choices so far that the content depends on, such as a layer, by key."""
    papers: tuple[str, ...] = ()
    """Keys of the papers behind what is shown."""
    queries: Sequence[str] = ()
    """SQL executed so far."""
    own_question: str = ""
    """The reader's own SQL behind the content; its columns keep their names."""
    stores: Sequence[Any] = ()
    """Files queried so far."""

    def room(self) -> Any:
        """Row that is open now."""
        return nullcontext()

    def place(self) -> Any:
        """Container of the next picker."""
        return nullcontext()

    def bar(self) -> Any:
        """Container of the head picker in the page's bar."""
        return nullcontext()

    def fold(self, title: str) -> Any:
        """Container of rarely used pickers, in a popover with a title."""
        return nullcontext()

    def announce(self, finding: str) -> None:
        """Set the headline of the next chart."""

    def note(self, text: str) -> None:
        """Add a note that explains the next chart."""

    def begin(self) -> str:
        """Begin a chart, so that later pickers belong to the next one; return its headline."""
        return ""

    def pick(self, key: str, picked: Picked) -> None:
        """Record a choice that the content depends on."""

    def reach(self, name: str, chart: Any, frame: Any) -> None:
        """Announce a figure that is about to be drawn."""

    def notes(self) -> list[str]:
        """Notes on the chart that was just drawn."""
        return []

    def record(self, queries: list[str], store: Any) -> None:
        """Record the SQL of an answer, and its file."""

    def ask(self, sql: str) -> None:
        """Record the SQL that the reader wrote."""


class Stage(Outside):
    """Stage of a section: the container of the next picker, and the finding for the next chart."""

    shares_rows = True

    def __init__(self, bar: Any, needs: Sequence[Table], redraw: Callable[[], None]) -> None:
        self.papers = tuple(dict.fromkeys(table.source for table in needs))
        self.needs, self.redraw, self.picked = needs, redraw, {}
        self.queries, self.stores = [], []
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
        """Container of the next picker; a popover if the row is full."""
        self._n_pickers += 1
        row = self.room()
        if self._n_pickers == _FULL + 1:
            self._room = row.popover(say("page.more"), key=f"more_{self._n_rows}")
        return self._room

    def bar(self) -> Any:
        self.has_bar = False  # already used
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

    def pick(self, key: str, picked: Picked) -> None:
        self.picked = {**self.picked, key: picked}

    def record(self, queries: list[str], store: Any) -> None:
        self.queries = list(dict.fromkeys([*self.queries, *queries]))
        if all(other.version != store.version for other in self.stores):
            self.stores = [*self.stores, store]

    def ask(self, sql: str) -> None:
        self.own_question = sql
        self.queries = list(dict.fromkeys([*self.queries, sql]))


def columns(n: int | Sequence[int]) -> list["Column"]:
    """Columns side by side, of the given widths."""
    shares = [1] * n if isinstance(n, int) else n
    places = zip(st.columns(n), shares, strict=True)
    return [Column(place, share / sum(shares)) for place, share in places]


class Column:
    """A part of the page's width, to draw in."""

    def __init__(self, place: Any, share: float) -> None:
        self._place, self._share = place, share

    def __enter__(self) -> None:
        self._token = _SHARE.set(self._share)
        self._place.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._place.__exit__(*error)
        _SHARE.reset(self._token)


def share_of_page() -> float:
    """Fraction of the page's width that is available where the code draws now."""
    return _SHARE.get()


_SHARE: ContextVar[float] = ContextVar("share of the width of a page", default=1.0)
_OUTSIDE = Outside()
_STAGE: ContextVar[Outside | None] = ContextVar("section that is drawn", default=None)


def stage() -> Outside:
    """Stage of the current section; outside of one, the default stage."""
    return _STAGE.get() or _OUTSIDE


@contextmanager
def staged(bar: Any, needs: Sequence[Table], redraw: Callable[[], None]) -> Iterator[None]:
    """Draw a section: its toolbar comes first, and a finding without a chart comes last.

    Args:
        bar: container of the head picker in the page's bar.
        needs: tables without which the section has nothing to draw.
        redraw: draws the section once more.
    """
    drawn = Stage(bar, needs, redraw)
    with on_stage(drawn):
        yield
        for text in filter(None, (drawn.begin(), *drawn.notes())):
            st.markdown(text)


def on_stage(drawn: Outside) -> AbstractContextManager[None]:
    """Make this the current stage while the block runs."""
    return holding(_STAGE, drawn)


def _row(name: str) -> Any:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=name)
