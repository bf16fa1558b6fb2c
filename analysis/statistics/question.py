"""Queries of an open file, the record of them, and values as SQL."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import cleandoc
from numbers import Real
from typing import Any

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.errors import UserError

PARAMETER = re.compile(r"\$(\w+)")
LARGEST_ANSWER = 256 * 2**20
"""Size limit of an answer in bytes. The largest that pages ask for are the distances of all heads:
2 MB for 270 heads, and this limit for 3,000."""
_VECTORS_AT_ONCE = 8
"""DuckDB vectors fetched at once, of at most 2,048 rows each."""
_RECORDED: ContextVar[list[str] | None] = ContextVar("queries that are written down", default=None)


class TooLarge(UserError):
    """An answer too large for memory; `size` is the limit."""

    def __init__(self) -> None:
        self.size = f"{LARGEST_ANSWER // 2**20} MiB"
        super().__init__(
            f"An answer is larger than {self.size}, the most that may be held in memory. "
            "Ask for less of the file in SQL, or build it again."
        )


def quoted(*texts: str) -> str:
    """Return texts as SQL literals, separated by commas."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)


def quoted_files(*paths: str) -> str:
    """Return paths as SQL literals for `read_parquet`, with glob characters escaped."""
    return quoted(*(re.sub(r"[*?[]", r"[\g<0>]", path) for path in paths))


def placed(names: Iterable[str], column: str) -> str:
    """Return SQL for the position of a column's value in a list of names; NULL if absent."""
    return f"list_position([{quoted(*names)}], {column})"


def frame_of(
    store: DuckDBPyConnection, sql: str, values: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Run a query and return its rows; `values` are bound to the `$name`s in it.

    Raises:
        TooLarge: if the answer exceeds `LARGEST_ANSWER`; the database limits only its own memory.
    """
    queries = _RECORDED.get()
    if queries is not None:
        queries.append(PARAMETER.sub(lambda name: literal((values or {})[name[1]]), cleandoc(sql)))
    return _bounded(store.execute(sql, dict(values or {})))


def _bounded(answer: DuckDBPyConnection) -> pd.DataFrame:
    """Fetch an answer in parts, and raise TooLarge before all of it is in memory."""
    first = part = answer.fetch_df_chunk(_VECTORS_AT_ONCE)
    parts: list[pd.DataFrame] = []
    size = 0
    while not part.empty:
        size += part.memory_usage(deep=True).sum()
        if size > LARGEST_ANSWER:
            raise TooLarge
        parts.append(part)
        part = answer.fetch_df_chunk(_VECTORS_AT_ONCE)
    if len(parts) < 2:
        return first
    texts = {name for part in parts for name in part if part[name].dtype == "str"}  # or all absent
    return pd.concat(parts, ignore_index=True).astype(dict.fromkeys(texts, "str"))


@contextmanager
def recorded_queries() -> Iterator[list[str]]:
    """Record the queries that run in the context, with their values, ready to run again."""
    queries: list[str] = []
    token = _RECORDED.set(queries)
    try:
        yield queries
    finally:
        _RECORDED.reset(token)


def literal(value: Any) -> str:
    """Return a value as an SQL literal."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Real):
        return str(value).lower()
    return f"[{', '.join(map(literal, value))}]"
