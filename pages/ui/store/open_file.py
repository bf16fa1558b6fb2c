"""How a file is opened: read-only, locked down, and never mistaken for what it replaced.

A file is attached to a fresh in-memory database, since DuckDB hands out an old connection for a
path that it has open, even when the file there is a new one.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import duckdb
import pandas as pd
import streamlit as st
from duckdb import DuckDBPyConnection

from analysis.errors import UserError
from analysis.foreign_file import BrokenContract, OtherSchema, attach, rows
from analysis.tables.corpus import provenance, run
from analysis.tables.table import Table
from analysis.time_limit import time_limit
from pages.ui.holding import holding
from pages.ui.words.say import say

ENDING = ".duckdb"
_OWN_NAMES = {"demo": "all-MiniLM-L6-v2"}
_FOR_SHOW = ("demo-digits", "demo-ja-bert", "demo-copy")
"""Models that were trained for this project, to be looked at."""
_LOOKS = 5
SECONDS = 60.0
"""What a question may take; the slowest that a page asks of the papers' corpus takes one."""


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
    """A readable file: which one, its `run`, its `provenance`, how many rows its tables have, and
    eight letters that change with its content."""

    version: Version
    run: pd.Series
    facts: dict[str, str]
    rows: dict[str, int]
    content: str

    @property
    def name(self) -> str:
        return self.version.name

    @property
    def label(self) -> str:
        """Its name where all that is named is such files."""
        return self.name.removesuffix(ENDING)

    @property
    def key(self) -> str:
        """What stands for it in an address beside the open file: its name and its content."""
        return f"{self.name}:{self.content}"

    def holds(self, *tables: Table) -> bool:
        """Whether the file has rows of all of these tables."""
        return all(self.rows.get(table.name) for table in tables)

    def found_nothing(self, table: Table) -> bool:
        """Whether a statistic was asked for when the file was made, and there was nothing of it."""
        return table.name in list(self.run["statistics"]) and not self.holds(table)

    @property
    def model(self) -> str:
        """The model's name; of a model in a folder, the folder's; of the demo's, its own."""
        name = str(self.run["model"])
        return _OWN_NAMES.get(name, Path(name).name if Path(name).is_absolute() else name)

    @property
    def model_name(self) -> str:
        """What pages call the model; one that was never trained, with its seed."""
        seed = self.random_weights
        return self.model if seed is None else say("model.untrained", model=self.model, seed=seed)

    @property
    def is_for_show(self) -> bool:
        """Whether the model is a small one that was trained for this project, to be looked at."""
        return self.run["model"] in _FOR_SHOW and self.random_weights is None

    @property
    def random_weights(self) -> int | None:
        """The seed that the weights of an untrained model were drawn with; None if trained."""
        seed = self.facts.get("random_weights", "none")
        return None if seed == "none" else int(seed)


@dataclass(frozen=True)
class _Run:
    """The files that a run of a page has found, and what they are: a page asks for that some twenty
    times, and Streamlit's cache takes its time."""

    versions: dict[Path, Version] = field(default_factory=dict)
    stores: dict[Version, Store | UserError] = field(default_factory=dict)


_RUN: ContextVar[_Run | None] = ContextVar("files of this run", default=None)


class Replaced(OSError):
    """Another file took the place of the one that was found, before that was opened."""


def seen_once(before: dict[Path, Version] | None = None) -> AbstractContextManager[None]:
    """Within it a file stays the one that was found first, so that no page mixes it with what
    replaces it meanwhile.

    Args:
        before: `seen` of the run that a part of a page is drawn again of.
    """
    return holding(_RUN, _RUN.get() or (_Run() if before is None else _Run(before)))


def _run() -> _Run:
    """This run; outside of one, what is found is forgotten at once."""
    return _RUN.get() or _Run()


def seen() -> dict[Path, Version]:
    """The files that this run has found, by their paths."""
    return _run().versions


def version_of(path: Path) -> Version:
    """The version of the file that is there now, or was when this run found it first.

    Raises:
        OSError: if there is none.
    """
    versions = seen()
    if path not in versions:
        versions[path] = _version_now(path)
    return versions[path]


def _version_now(path: Path) -> Version:
    status = path.stat()
    return Version(str(path.resolve()), status.st_ino, status.st_mtime_ns)


@contextmanager
def cursor(version: Version) -> Iterator[DuckDBPyConnection]:
    """A cursor of its own on a file, for a minute; cursors of different threads do not meet.

    Raises:
        Replaced: if it is not there any longer, and was not opened before.
        OtherSchema: if the file is of another version of this program.
        BrokenContract: if it is none of this program's, or was changed.
        TooSlow: if what is asked takes too long.
        duckdb.Error: if it cannot be read.
    """
    with _attached(version).cursor() as opened, time_limit(opened, SECONDS):
        yield opened


def described(version: Version) -> Store:
    """What a file is; raises what `cursor` does."""
    stores = _run().stores
    if version not in stores:
        stores[version] = _described(version)
    outcome = stores[version]
    if isinstance(outcome, UserError):
        raise outcome.with_traceback(None)
    return outcome


@st.cache_resource(max_entries=64, show_spinner=False)
def _described(version: Version) -> Store | OtherSchema | BrokenContract:
    """What a file is, or why it is none of this program's: neither changes with its next visit."""
    try:
        with cursor(version) as store:
            facts = provenance(store)
            return Store(
                version,
                run(store),
                facts=dict(zip(facts["name"], facts["value"], strict=True)),
                rows=rows(store),
                content=_content(store),
            )
    except (OtherSchema, BrokenContract) as error:
        return error


def looked_at(path: Path) -> Store:
    """What the file is that is there now, or was when this run found it first.

    Where another takes its place before this run has shown anything of it, the other is looked at:
    a run that began anew before it knows which page is asked for would show the first page.

    Raises:
        Replaced: others take its place again and again, or of the one that was found something is
            shown already; what else it raises, `cursor` does.
    """
    for _ in range(0 if path in seen() else _LOOKS):
        with suppress(Replaced):
            return described(version_of(path))
        seen().pop(path, None)
    return described(version_of(path))


def _content(store: DuckDBPyConnection) -> str:
    """Eight letters for what the tables of a file hold."""
    query = "select name, n_rows, checksum from stored.manifest order by name"
    return sha256(repr(store.execute(query).fetchall()).encode()).hexdigest()[:8]


def _check_there(version: Version) -> None:
    """Raises `Replaced` if a file is not there any longer, but another or none."""
    with suppress(OSError):
        if _version_now(Path(version.path)) == version:
            return
    raise Replaced(f"{version.name} was replaced")


@st.cache_resource(max_entries=12, on_release=lambda store: store.close(), show_spinner=False)
def _attached(version: Version) -> DuckDBPyConnection:
    """The file's views under their own names in a database in memory that reaches nothing else."""
    store = duckdb.connect(":memory:")
    try:
        with time_limit(store, SECONDS):
            attach(store, version.path)
        _check_there(version)
    except BaseException:
        store.close()
        raise
    return store
