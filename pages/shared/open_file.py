"""How a file is opened: read-only, locked down, and never mistaken for what it replaced.

A file is attached to a fresh in-memory database, since DuckDB hands out an old connection for a
path that it has open, even when the file there is a new one.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import streamlit as st
from duckdb import DuckDBPyConnection

from analysis.tables import SCHEMA_VERSION
from analysis.tables.corpus import contents, provenance, run

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


@dataclass(frozen=True)
class Version:
    """A file as it was when it was found; its replacement has another version."""

    path: str
    inode: int
    modified: int

    @property
    def name(self) -> str:
        return Path(self.path).name


@dataclass(frozen=True)
class Store:
    """A readable file: which one, its `run`, its `provenance`, how many rows its tables have."""

    version: Version
    run: pd.Series
    facts: dict[str, str]
    rows: dict[str, int]

    @property
    def name(self) -> str:
        return self.version.name

    @property
    def model(self) -> str:
        """The model's name; of a model in a folder, the folder's."""
        name = str(self.run["model"])
        return Path(name).name if Path(name).is_absolute() else name

    @property
    def random_weights(self) -> int | None:
        """The seed that the weights of an untrained model were drawn with; None if trained."""
        seed = self.facts.get("random_weights", "none")
        return None if seed == "none" else int(seed)


class OtherSchema(Exception):
    """A file of another version of this program; its argument is the schema version it has."""


def version_of(path: Path) -> Version:
    """The version of the file that is there now.

    Raises:
        OSError: if there is none.
    """
    status = path.stat()
    return Version(str(path.resolve()), status.st_ino, status.st_mtime_ns)


def cursor(version: Version) -> DuckDBPyConnection:
    """A cursor of its own on a file; cursors of different threads do not meet."""
    return _attached(version.path, version.inode, version.modified).cursor()


@st.cache_data(max_entries=64, show_spinner=False)
def described(version: Version) -> Store:
    """What a file is.

    Raises:
        OtherSchema: if it is of another version of this program.
        duckdb.Error: if it cannot be read.
    """
    with cursor(version) as store:
        facts, tables = provenance(store), contents(store)
        return Store(
            version,
            run(store),
            facts=dict(zip(facts["name"], facts["value"], strict=True)),
            rows=dict(zip(tables["name"], tables["n_rows"], strict=True)),
        )


@st.cache_resource(max_entries=4, on_release=lambda store: store.close(), show_spinner=False)
def _attached(path: str, inode: int, modified: int) -> DuckDBPyConnection:
    """The file's views under their own names in an in-memory database that can reach nothing else.

    Args:
        inode, modified: what tells the file from another of the same path.
    """
    store = duckdb.connect(":memory:", config=_CONFIG)
    try:
        literal = path.replace("'", "''")
        store.execute(f"attach '{literal}' as file (read_only)")
        _assert_schema(store)
        views = store.execute(
            "select view_name from duckdb_views() where database_name = 'file' and not internal"
        ).fetchall()
        for (name,) in views:
            quoted = name.replace('"', '""')
            store.execute(f'create view "{quoted}" as from file.main."{quoted}"')
        store.execute("set enable_external_access = false")
        store.execute("set lock_configuration = true")
    except BaseException:
        store.close()
        raise
    return store


def _assert_schema(store: DuckDBPyConnection) -> None:
    [(schema,)] = store.execute("select schema_version from file.main.run").fetchall()
    if schema != SCHEMA_VERSION:
        raise OtherSchema(schema)
