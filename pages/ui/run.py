"""Run of a page: what all its parts share without being handed it.

This is the only context variable of the pages. A fragment that Streamlit draws again later, and a
section that runs with another file, run within a copy of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass
class Asked:
    """Questions that a section has asked so far.

    Attributes:
        queries: the SQL executed, each once.
        stores: the files queried, each version once.
        own: the reader's own SQL; the columns of its answer keep their names.
    """

    queries: list[str] = field(default_factory=list)
    stores: list[Any] = field(default_factory=list)
    own: str = ""

    def record(self, queries: list[str], store: Any) -> None:
        """Record the SQL of an answer, and its file."""
        self.queries = list(dict.fromkeys([*self.queries, *queries]))
        if all(other.version != store.version for other in self.stores):
            self.stores.append(store)

    def ask(self, sql: str) -> None:
        """Record the SQL that the reader wrote."""
        self.own = sql
        self.queries = list(dict.fromkeys([*self.queries, sql]))

    def so_far(self) -> "Asked":
        """Copy that later questions do not change."""
        return Asked([*self.queries], [*self.stores], self.own)

    def __or__(self, other: "Asked") -> "Asked":
        both = self.so_far()
        for store in other.stores:
            both.record(other.queries, store)
        return both


@dataclass(frozen=True)
class Run:
    """State of one run.

    Attributes:
        words: page and section whose words have short names.
        file: name of the file to show in place of the chosen one.
        versions: of the files found, by path: no page mixes a file with its replacement.
        stores: descriptions of the files found, by version.
        asked: questions of the section.
        is_one_entry: whether the choices of the run become one entry of the browser's history.
    """

    words: tuple[str, ...] = ()
    file: str | None = None
    versions: dict[Path, Any] = field(default_factory=dict)
    stores: dict[Any, Any] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)
    is_one_entry: bool = False


_RUN: ContextVar[Run | None] = ContextVar("run of a page", default=None)


def run() -> Run:
    """Present run; outside of one, an empty run that is not kept."""
    return _RUN.get() or Run()


@contextmanager
def within(part: Run) -> Iterator[None]:
    """Make this the present run while the block runs."""
    token = _RUN.set(part)
    try:
        yield
    finally:
        _RUN.reset(token)


@contextmanager
def within_part(**differences: Any) -> Iterator[None]:
    """Continue the present run, or begin one, with some differences while the block runs."""
    with within(replace(run(), **differences)):
        yield
