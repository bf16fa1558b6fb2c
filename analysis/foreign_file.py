"""Open a file of statistics safely, whoever made it.

A file can carry code: its views are queries, and its macros can replace functions. So access to
everything else is shut before the file is attached. Only its tables are used, after their columns
are compared with the contracts. The views are created again by this program.
"""

from functools import cache
from math import prod

import duckdb
from duckdb import DuckDBPyConnection

from analysis.contracts import every_table
from analysis.errors import UserError
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.base.columns import HEAD, LAYER, SEQ, Column
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import FACTS, MANIFEST, PROVENANCE, RUN
from analysis.statistics.question import quoted

MEMORY = "2GB"
"""Memory limit of a page's query; at the papers' size it takes a fifth."""
_LONGEST_NAME = 60
_FAULTS = {
    "missing_table": "It has no table {table}.",
    "missing_column": "Its table {table} has no column {column}.",
    "wrong_type": "Its column {table}.{column} has the type {has} instead of {wants}.",
    "changed": "Its table {table} is not what it was when the file was built.",
    "broken_law": "Its table {table} breaks the law `{law}`.",
}

_LOCKED = ("Could not set lock on file", "being used by another process")
"""DuckDB's words for a file that another process holds open for writing: on Unix, on Windows."""

_Types = dict[str, dict[str, str]]
"""Column types, by table name and column name."""


class OtherSchema(UserError):
    """A file of another version of this program; `has` is its schema version."""

    def __init__(self, has: int):
        self.has = has
        super().__init__(
            f"schema version {has}; this version of Mixscope reads {SCHEMA_VERSION}. "
            "Build the file again with this version."
        )


class Locked(UserError):
    """A file that another process holds open for writing; `reason` names the process."""

    def __init__(self, path: str, reason: str):
        self.reason = reason
        super().__init__(
            f"{path} is locked by a program that is writing to it. Wait until it is done, or end "
            f"it. ({reason})"
        )


class BrokenContract(UserError):
    """A file that breaks the contract of a table; `fault` names the violation, `values` its
    place."""

    def __init__(self, fault: str, **values: str):
        self.fault, self.values = fault, values
        super().__init__(_FAULTS[fault].format(**values))


def attach(store: DuckDBPyConnection, path: str, *, memory: str = "", spill_to: str = "") -> None:
    """Attach a file's tables and create this program's views, in a fresh in-memory database.

    Args:
        path: absolute, without links.
        memory: memory limit of the database, `MEMORY` by default.
        spill_to: the folder for data that does not fit into memory; nothing spills by default.

    Raises:
        OtherSchema: if it is of another version of this program.
        BrokenContract: if it is none of this program's, or was changed.
        Locked: if another process holds it open for writing.
        duckdb.Error: if it cannot be read.
    """
    try:
        for statement in attaching(path, memory=memory, spill_to=spill_to):
            store.execute(statement)
    except duckdb.IOException as error:
        if any(sign in str(error) for sign in _LOCKED):
            raise Locked(path, str(error).splitlines()[0]) from error
        raise
    there = _types(store, "file")
    _assert_columns(
        there, RUN, [column for column in RUN.columns if column.name == "schema_version"]
    )
    _assert_schema(store)
    for table in every_table():
        _assert_columns(there, table, table.columns)
    for statement in viewing():
        store.execute(statement)
    _assert_account(store)
    _assert_rows(store)


def attaching(path: str, *, memory: str = "", spill_to: str = "") -> list[str]:
    """Return the statements that restrict all access to a file and its write-ahead log."""
    stem, mark, rest = path.partition("?")  # DuckDB reads the rest as parameters
    allowed = quoted(path, f"{stem}.wal{mark}{rest}")
    return [
        "set autoinstall_known_extensions = false",
        "set autoload_known_extensions = false",
        "set allow_persistent_secrets = false",
        f"set memory_limit = '{memory or MEMORY}'",
        f"set temp_directory = {quoted(spill_to)}",
        f"set allowed_paths = [{allowed}]",
        "set enable_external_access = false",
        f"attach {quoted(path)} as file (read_only, type duckdb)",
        "set lock_configuration = true",
    ]


def viewing() -> list[str]:
    """Return the statements that create the views of an attached file; requires lawful columns."""
    stored = {
        table.name: ", ".join(f'"{column.name}"' for column in table.columns)
        for table in every_table()
    }
    views = (view for table in every_table() for view in table.all_views)
    return [
        "create schema stored",
        *(
            f"create view stored.{name} as select {columns} from file.stored.{name}"
            for name, columns in stored.items()
        ),
        *(f"create view {view.name} as {view.sql}" for view in views),
    ]


def rows(store: DuckDBPyConnection) -> dict[str, int]:
    """Return the number of rows of every table of an attached file."""
    names = [table.name for table in every_table() if table != MANIFEST]
    counts = (f"select '{name}' as name, count(*) as n_rows from stored.{name}" for name in names)
    return dict(store.execute(" union all ".join(counts)).fetchall())


def _types(store: DuckDBPyConnection, database: str) -> _Types:
    """Return the types of all stored columns; a computed column has no stored type."""
    types: _Types = {}
    columns = store.execute(
        """
        select table_name, column_name, if(is_generated, 'computed', data_type)
        from duckdb_columns()
        join duckdb_tables() using (database_name, schema_name, table_name)
        where database_name = $database and schema_name = 'stored'
        """,
        {"database": database},
    ).fetchall()
    for table, column, kind in columns:
        types.setdefault(table, {})[column] = kind
    return types


@cache
def _contract() -> _Types:
    """Return the types that the contracts require, as DuckDB names them."""
    with duckdb.connect() as connection:
        connection.execute("create schema stored")
        for table in every_table():
            connection.register("empty", table.schema.empty_table())
            connection.execute(f"create table stored.{table.name} as from empty")
        return _types(connection, "memory")


def _assert_columns(
    there: _Types, table: Table, columns: tuple[Column, ...] | list[Column]
) -> None:
    if table.name not in there:
        raise BrokenContract("missing_table", table=table.name)
    for column in columns:
        place = {"table": table.name, "column": column.name}
        has = there[table.name].get(column.name)
        wants = _contract()[table.name][column.name]
        if has is None:
            raise BrokenContract("missing_column", **place)
        if has != wants:
            raise BrokenContract("wrong_type", **place, has=has[:_LONGEST_NAME], wants=wants)


def _assert_schema(store: DuckDBPyConnection) -> None:
    versions = store.execute("select schema_version from file.stored.run limit 2").fetchall()
    if len(versions) != 1:
        raise BrokenContract("broken_law", table=RUN.name, law="count(*) = 1")
    [(schema,)] = versions
    if schema is None:
        raise BrokenContract("broken_law", table=RUN.name, law="schema_version is not null")
    if schema != SCHEMA_VERSION:
        raise OtherSchema(schema)


def _assert_account(store: DuckDBPyConnection) -> None:
    """Raise BrokenContract unless run, provenance and manifest are complete and lawful."""
    for table in (RUN, PROVENANCE, MANIFEST):
        laws = [*table.bounds, *table.laws]
        broken = ", ".join(f"count(*) filter (where ({law}) is not true)" for law in laws)
        counted = store.execute(f"select {broken} from stored.{table.name}").fetchall()[0]
        for law, n in zip(laws, counted, strict=True):
            if n:
                raise BrokenContract("broken_law", table=table.name, law=law)
    facts = {name for (name,) in store.execute("select name from stored.provenance").fetchall()}
    for fact in FACTS:
        if fact not in facts:
            raise BrokenContract("broken_law", table=PROVENANCE.name, law=f"name = '{fact}'")


def _assert_rows(store: DuckDBPyConnection) -> None:
    """Raise BrokenContract if a table has other rows than when the file was built, or more than
    its keys allow: one for each sequence, layer and head, numbered from 0 or from 1."""
    built = dict(store.execute("select name, n_rows from stored.manifest").fetchall())
    counts = store.execute("select n_sequences, n_layers, n_heads from stored.run").fetchall()[0]
    ways = {key.name: n + 1 for key, n in zip((SEQ, LAYER, HEAD), counts, strict=True)}
    there = rows(store)
    for table in every_table():
        n_rows, key = there.get(table.name), [column.name for column in table.key]
        if table != MANIFEST and n_rows != built.get(table.name):
            raise BrokenContract("changed", table=table.name)
        if n_rows and key and ways.keys() >= {*key}:
            most = prod(ways[name] for name in key)
            if n_rows > most:
                raise BrokenContract("broken_law", table=table.name, law=f"count(*) <= {most}")
