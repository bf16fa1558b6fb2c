"""Execution of SQL on one file, in a process of its own without other access.

SQL of unknown origin may run without a point of interruption, take memory that the database does
not count, or end its process; a SELECT can hold a COPY that writes. So the kernel enforces limits
as well where it has them (`pages.services.sql_loop`), and once the file is open, no other can be
opened.
"""

import re
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType

from pages.services.sql_loop import Answer, answer_lines, limit

_SETTINGS: dict[str, Any] = {
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "threads": 2,
}
_WHOLE = ("INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT")
_NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL")


def opened(statements: list[str], rows: int, columns: int) -> Answer:
    """Return the function that answers queries after these statements; it opens no further file."""
    store = duckdb.connect(":memory:", config=_SETTINGS)
    for statement in statements:
        store.execute(statement)
    limit("RLIMIT_NOFILE", 0)
    return lambda sql: _answered(store, sql, rows, columns)


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
    answer_lines(opened)
