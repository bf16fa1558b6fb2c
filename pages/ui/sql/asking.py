"""Execution of SQL on a file: read-only, without other access, within limits of time and size.

A function that runs long on one value, such as `levenshtein` on long texts, is interrupted only at
its end.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

import duckdb
import pandas as pd
import streamlit as st
from duckdb import DuckDBPyConnection, StatementType

from analysis.foreign_file import attaching, viewing
from analysis.time_limit import TooSlow, time_limit
from pages.ui.store.open_file import Version
from pages.ui.words.say import plain, say

SECONDS = 10.0
"""Time limit of a query."""
ROWS, COLUMNS = 100_000, 256
"""Limits of an answer: further rows are cut off, further columns refused."""
LARGEST = 64 * 2**20
"""Most bytes of an answer, whose every value takes some."""
_LEAST = 64  # bytes of a value
MEMORY = "1GB"
"""Memory limit of the database, which reports when it needs more."""
_SETTINGS: dict[str, Any] = {
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "threads": 2,
}
_AT_ONCE = BoundedSemaphore(2)
_WHOLE = ("INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT")
_NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL")
_CASTS = {"whole": "", "number": "::double", "truth": "", "text": "::varchar"}
_MOST_WHOLE = 2**63


@dataclass(frozen=True)
class Answer:
    """Rows that a query returned; `was_cut` says that there are more."""

    frame: pd.DataFrame
    was_cut: bool


@dataclass(frozen=True)
class Fault:
    """Reason why a query has no answer, with the database's message.

    `name` is `nothing`, `several`, `not_reading`, `sql`, `memory`, `large` or `slow`.
    """

    name: str
    message: str = ""


def why_unanswered(fault: Fault) -> str:
    """Explain in the reader's language why a query has no answer, with a remedy."""
    limits = {"seconds": f"{SECONDS:g}", "memory": MEMORY, "columns": COLUMNS}
    limits |= {"megabytes": LARGEST // 2**20}
    return say(f"sql.fault_{fault.name}", kind=plain(fault.message), **limits)


@st.cache_data(max_entries=64, max_size="128MB", ttl=600, show_spinner=False)
def answered(version: Version, sql: str) -> Answer | Fault:
    """Return the cached answer to a query; failures too are cached, for ten minutes."""
    with _AT_ONCE:
        [outcome] = asked(version.path, [sql])
    return outcome


def asked(
    path: str, questions: Iterable[str], *, seconds: float = SECONDS, rows: int = ROWS
) -> list[Answer | Fault]:
    """Run several queries, one after the other, on a file that was found sound.

    Args:
        path: absolute, without links.
    """
    with duckdb.connect(":memory:", config=_SETTINGS) as store:
        for statement in [*attaching(path, memory=MEMORY), *viewing()]:
            store.execute(statement)
        return [_outcome(store, sql, seconds, rows) for sql in questions]


def _outcome(store: DuckDBPyConnection, sql: str, seconds: float, rows: int) -> Answer | Fault:
    try:
        statements = store.extract_statements(sql)
        if len(statements) != 1:
            return Fault("several" if statements else "nothing")
        if not _reads(statements[0]):
            kind, *_ = re.findall(r"\w+", statements[0].query)
            return Fault("not_reading", kind.upper())
        with time_limit(store, seconds):
            if _copies(store, statements[0].query):
                return Fault("not_reading", "COPY")
            return _answer(store, sql, rows)
    except TooSlow:
        return Fault("slow")
    except (duckdb.OutOfMemoryException, MemoryError):
        return Fault("memory")
    except duckdb.Error as error:
        return Fault("sql", str(error))


def _reads(statement: duckdb.Statement) -> bool:
    try:
        return statement.type == StatementType.SELECT
    except ValueError:  # a kind that the client has no name for
        return False


def _copies(store: DuckDBPyConnection, sql: str) -> bool:
    """Return True if the plan of a SELECT writes: DuckDB lets it overwrite the attached file."""
    [(_, plan)] = store.execute(f"explain (format json) {sql}").fetchall()
    left = json.loads(plan)
    while left:
        operator = left.pop()
        if "COPY" in operator["name"]:
            return True
        left += operator.get("children", [])
    return False


def _answer(store: DuckDBPyConnection, sql: str, most: int) -> Answer | Fault:
    relation = store.sql(sql)
    if len(relation.columns) > COLUMNS:
        return Fault("large")
    most = min(most, LARGEST // _LEAST // len(relation.columns))
    kinds = [_kind(str(column_type)) for column_type in relation.types]
    casts = [f"#{place}{_CASTS[kind]}" for place, kind in enumerate(kinds, 1)]
    rows = relation.limit(most + 1).project(", ".join(casts)).fetchall()
    columns = zip(*rows[:most], strict=True) if rows else [()] * len(kinds)
    described = zip(_distinct_names(relation.columns), kinds, columns, strict=True)
    frame = pd.DataFrame({name: _column(list(column), kind) for name, kind, column in described})
    is_large = frame.memory_usage(deep=True).sum() > LARGEST
    return Fault("large") if is_large else Answer(frame, was_cut=len(rows) > most)


def _kind(type_: str) -> str:
    """Kind of a DuckDB type, among those that pages distinguish."""
    if type_.removeprefix("U") in _WHOLE:
        return "whole"
    if type_.partition("(")[0] in _NUMBERS and not type_.endswith("]"):
        return "number"
    return "truth" if type_ == "BOOLEAN" else "text"


def _distinct_names(names: list[str]) -> list[str]:
    """Number repeated names so that all are distinct."""
    unique: list[str] = []
    for name in names:
        numbered = (f"{name}_{place}" for place in range(2, len(names) + 2))
        unique.append(name if name not in unique else next(e for e in numbered if e not in unique))
    return unique


def _column(values: list[Any], kind: str) -> pd.Series:
    """Convert values to a column of one kind; integers beyond 64 bits become text."""
    there = [value for value in values if value is not None]
    if kind == "whole" and all(-_MOST_WHOLE <= value < _MOST_WHOLE for value in there):
        return pd.Series(values, dtype="int64" if len(there) == len(values) else "Int64")
    if kind == "number":
        return pd.Series(values, dtype="float64")
    if kind == "truth":
        return pd.Series(values, dtype="bool" if len(there) == len(values) else "boolean")
    return pd.Series([value if value is None else str(value) for value in values], dtype="str")
