"""Questions asked of files, and the record of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics.question import recorded_queries
from pages.kit.address import stop
from pages.services.chosen import UNREADABLE, why_unreadable
from pages.services.open_file import Replaced, Store, Version, cursor

Question = Callable[..., Any]
"""A query of `analysis.statistics`."""


@dataclass
class Asked:
    """Record of the questions so far.

    Attributes:
        queries: the SQL executed, each once.
        stores: the files queried, each version once.
        own: the reader's own SQL; the columns of its answer keep their names.
    """

    queries: list[str] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    own: str = ""

    def ask(self, store: Store, question: Question, **choices: Any) -> Any:
        """Return the answer of a query on a file, in the version that was found, as a copy.

        Enumerations become text, and whole numbers 64 bits wide (floats where some are missing), so
        that charts and arithmetic see nothing narrower.
        """
        try:
            answer, queries = _answer(store.version, _name(question), choices, question)
        except Replaced:
            st.rerun()
        except UNREADABLE as error:
            st.error(why_unreadable(Path(store.version.path), error))
            stop()
        self.record(queries, store)
        return answer

    def record(self, queries: list[str], store: Store) -> None:
        """Record the SQL of an answer, and its file."""
        self.queries = list(dict.fromkeys([*self.queries, *queries]))
        if all(other.version != store.version for other in self.stores):
            self.stores.append(store)

    def record_own(self, sql: str) -> None:
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


class Inquiry:
    """Open file, and the record of what was asked of it and of others."""

    def __init__(self, store: Store) -> None:
        self.store, self.asked = store, Asked(stores=[store])

    def ask(self, question: Question, **choices: Any) -> Any:
        """Return the answer of a query on the open file; as `Asked.ask`."""
        return self.asked.ask(self.store, question, **choices)

    def ask_together(self, question: Question, *stores: Store, **choices: Any) -> Any:
        """Return the cached result of a function that asks several files.

        Args:
            question: takes a record to ask with, the files, then the choices; draws nothing.
        """
        versions = tuple(store.version for store in stores)
        answer, asked = _answer_together(versions, _name(question), choices, question, stores)
        for store in asked.stores:
            self.asked.record(asked.queries, store)
        return answer


def _name(question: Question) -> str:
    return f"{question.__module__}.{question.__qualname__}"


@st.cache_data(max_entries=256, max_size="128MB", show_spinner=False)
def _answer(
    version: Version, name: str, choices: dict[str, Any], _question: Question
) -> tuple[Any, list[str]]:
    """Return the answer, and the SQL that it took."""
    with cursor(version) as store, recorded_queries() as queries:
        answer = _question(store, **choices)
    return _widened(answer) if isinstance(answer, pd.DataFrame) else answer, queries


@st.cache_data(max_entries=256, max_size="64MB", show_spinner=False)
def _answer_together(
    versions: tuple[Version, ...],
    name: str,
    choices: dict[str, Any],
    _question: Question,
    _stores: tuple[Store, ...],
) -> tuple[Any, Asked]:
    """Return the answer and what was asked, which is recorded for cached answers too."""
    asked = Asked()
    return _question(asked, *_stores, **choices), asked


def _widened(frame: pd.DataFrame) -> pd.DataFrame:
    for name, kind in frame.dtypes.items():
        if isinstance(kind, pd.CategoricalDtype):
            frame[name] = frame[name].astype(str)
        elif kind.kind in "iu":
            frame[name] = frame[name].astype("float64" if frame[name].isna().any() else "int64")
    return frame
