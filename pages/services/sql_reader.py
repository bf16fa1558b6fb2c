"""Answers to SQL on one file, a line in and a line out, in a process without other access.

SQL of unknown origin may run without a point of interruption, take memory that the database does
not count, or end its process; a SELECT can hold a COPY that writes. So the kernel enforces limits
as well where it has them, and once the file is open, no other can be opened. Nothing of the pages
is imported, so that the process starts at once.
"""

import faulthandler
import json
import os
import re
import signal
import sys
from contextlib import suppress
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType

TOO_SLOW = "Timeout"
"""Beginning of the last line of a process that took too long; every other line is JSON."""
_SETTINGS: dict[str, Any] = {
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "threads": 2,
}
_WHOLE = ("INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT")
_NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL")


def answer_lines() -> None:
    """Answer every line of the standard input by a line; all are JSON.

    The first line holds the limits and the statements that open the file. From then on a watchdog
    ends the process if an answer takes too long, and where the kernel has limits, no file can be
    written or opened, and memory is bounded.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with whoever asks it
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no reply
    limits = json.loads(sys.stdin.readline())
    statements, n_rows, n_columns = limits["opening"].values()
    store = duckdb.connect(":memory:", config=_SETTINGS)
    for statement in statements:
        store.execute(statement)
    most = {"NOFILE": 0, "FSIZE": 0, "CORE": 0, "DATA": limits["memory"]}
    with suppress(ModuleNotFoundError):  # of Windows
        import resource

        for name, value in most.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    for line in sys.stdin:
        # needs no interpreter, which the work may hold; its first line begins with `TOO_SLOW`
        faulthandler.dump_traceback_later(limits["seconds"], exit=True, file=replies)
        reply = json.dumps(_answered(store, json.loads(line), n_rows, n_columns))
        fits = len(reply) <= limits["letters"]
        faulthandler.cancel_dump_traceback_later()  # no answer is broken off while it is written
        print(reply if fits else json.dumps({"fault": "large"}), file=replies, flush=True)


def _answered(store: DuckDBPyConnection, sql: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Return the answer, with one row more than may be shown if there are more; or the error."""
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
    """Kind of a DuckDB type, among those that pages distinguish."""
    if type_.removeprefix("U") in _WHOLE:
        return "whole"
    if type_.partition("(")[0] in _NUMBERS and not type_.endswith("]"):
        return "number"
    return "truth" if type_ == "BOOLEAN" else "text"


if __name__ == "__main__":
    answer_lines()
