"""Answers questions in SQL about one file, in a process of its own that can do nothing else.

A database that runs what strangers write may be slow where nothing interrupts it, take memory that
it does not count, or end its process; a SELECT can hold a COPY that writes. So the kernel, too,
sets the limits: once the file is open, no other can be opened, nothing can be written, memory is
bounded, and an alarm ends the process. Neither pages nor contracts are imported: it is there in a
moment.

The first line that it reads opens the file, every further one is a question; each is JSON, and so
is each line that it writes, an answer or a fault.
"""

import json
import re
import resource
import signal
import sys
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType

_SETTINGS: dict[str, Any] = {
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "threads": 2,
}
_WHOLE = ("INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT")
_NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL")


def main() -> None:
    """Open the file that the first line names, and answer the others."""
    opening = json.loads(sys.stdin.readline())
    store = opened(opening["statements"])
    _shut(opening["memory"])
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, opening["seconds"])
        answer = json.dumps(_answered(store, json.loads(line), opening["rows"], opening["columns"]))
        fits = len(answer) <= opening["letters"]
        signal.setitimer(signal.ITIMER_REAL, 0)  # no answer is broken off while it is written
        print(answer if fits else json.dumps({"fault": "large"}), flush=True)


def opened(statements: list[str]) -> DuckDBPyConnection:
    """A database after these statements."""
    store = duckdb.connect(":memory:", config=_SETTINGS)
    for statement in statements:
        store.execute(statement)
    return store


def _shut(memory: int) -> None:
    """No file can be opened or written from now on, and no more than these bytes be taken."""
    for limit, most in (
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, memory),
    ):
        resource.setrlimit(limit, (most, most))


def _answered(store: DuckDBPyConnection, sql: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    """The answer, with one row more than may be shown if there are more; or what is wrong."""
    try:
        statements = store.extract_statements(sql)
        if len(statements) != 1:
            return {"fault": "several" if statements else "nothing"}
        if not _reads(statements[0]):
            kind, *_ = re.findall(r"\w+", statements[0].query)
            return {"fault": "not_reading", "message": kind.upper()}
        relation = store.sql(sql)
        if len(relation.columns) > n_columns:
            return {"fault": "large"}
        kinds = [_kind(str(column_type)) for column_type in relation.types]
        casts = [f"#{place}{_CASTS[kind]}" for place, kind in enumerate(kinds, 1)]
        rows = relation.limit(n_rows + 1).project(", ".join(casts)).fetchall()
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"fault": "memory"}
    except duckdb.Error as error:
        return {"fault": "sql", "message": str(error)}
    return {"names": relation.columns, "kinds": kinds, "rows": rows}


def _reads(statement: duckdb.Statement) -> bool:
    try:
        return statement.type == StatementType.SELECT
    except ValueError:  # a kind that the client has no name for
        return False


_CASTS = {"whole": "", "number": "::double", "truth": "", "text": "::varchar"}


def _kind(type_: str) -> str:
    """Of the kinds that pages tell apart, the one of a type of DuckDB."""
    if type_.removeprefix("U") in _WHOLE:
        return "whole"
    if type_.partition("(")[0] in _NUMBERS and not type_.endswith("]"):
        return "number"
    return "truth" if type_ == "BOOLEAN" else "text"


if __name__ == "__main__":
    main()
