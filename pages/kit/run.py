"""Run of a page: what cannot be handed over as an argument.

This is the only context variable of the pages. Charts and tables of any depth name columns by the
words of their section, files are found by cached functions, and choices are written by callbacks of
Streamlit. A fragment that Streamlit draws again later runs within the run that made it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """State of one run.

    Attributes:
        words: page and section whose words have short names.
        versions: of the files found, by path: no page mixes a file with its replacement.
        is_one_entry: whether the choices of the run become one entry of the browser's history.
    """

    words: tuple[str, ...] = ()
    versions: dict[Path, Any] = field(default_factory=dict)
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
