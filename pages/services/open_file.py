"""Opening of files: read-only, without access to others, and never confused with a replaced file.

A file is attached to a fresh in-memory database: DuckDB returns an old connection for a path that
it has open, even if the file there is a new one.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PureWindowsPath

import duckdb
import pandas as pd
import streamlit as st
from duckdb import DuckDBPyConnection

from analysis.errors import UserError
from analysis.foreign_file import BrokenContract, OtherSchema, attach, rows
from analysis.scopes import ORDERS, LayerOrder
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import provenance, run
from analysis.time_limit import time_limit
from pages.kit.run import run as present_run
from pages.kit.run import within_part
from pages.words.say import ADDED, DISTANCE, IMAGES, PATCHES, TURNED, say

ENDING = ".duckdb"
_OWN_NAMES = {
    "demo": "all-MiniLM-L6-v2",
    "demo-decoder": "SmolLM2-135M-Instruct",
    "demo-encoder": "all-mpnet-base-v2",
}
_FOR_SHOW = ("demo-digits", "demo-ja-bert", "demo-copy")
"""Demonstration models trained for this project."""
_LOOKS = 5
_ALL, _NONE = "all", "none"  # windows of layers
SECONDS = 60.0
"""Time limit of a query; the slowest on the papers' corpus takes one second."""


@dataclass(frozen=True)
class Version:
    """A file at the time it was found; its replacement has another version."""

    path: str
    inode: int
    modified: int

    @property
    def name(self) -> str:
        return Path(self.path).name


@dataclass(frozen=True)
class Store:
    """A readable file, its manifest, and a code of eight letters that changes with its content."""

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
        """Name of the file without its ending, for lists of such files."""
        return self.name.removesuffix(ENDING)

    @property
    def key(self) -> str:
        """Name and content of the file, for the address of a comparison."""
        return f"{self.name}:{self.content}"

    def holds(self, *tables: Table) -> bool:
        """Return True if the file has rows in all of these tables."""
        return all(self.rows.get(table.name) for table in tables)

    def found_nothing(self, table: Table) -> bool:
        """Return True if a statistic was requested for the file, but has no rows."""
        return table.name in list(self.run["statistics"]) and not self.holds(table)

    @property
    def model(self) -> str:
        """Name of the model; of a model in a folder, that of the folder; of the demo's, its own."""
        name = str(self.run["model"])
        path = PureWindowsPath(name)  # which both kinds of slashes separate
        return _OWN_NAMES.get(name, path.name if path.root else name)

    @property
    def model_name(self) -> str:
        """Display name of the model, with its part if it has several, the seed if untrained and the
        bits if quantised."""
        return say(f"model.part_{self.part}", model=self._known) if self.part else self._known

    @property
    def _known(self) -> str:
        if (seed := self.random_weights) is not None:
            return say("model.untrained", model=self.model, seed=seed)
        if bits := self.weight_bits:
            return say("model.quantised", model=self.model, bits=bits)
        return self.model

    @property
    def part(self) -> str | None:
        """The part of the model that was run; None for a model without parts."""
        part = self.facts.get("part", "none")
        return None if part == "none" else part

    @property
    def without_attention(self) -> dict[int, str]:
        """Class names of what stands in place of attention, by layer, counted from 1."""
        stated = self.facts.get("without_attention", "")
        parts = (part.split(" ") for part in stated.split(", ") if part)
        return {int(number): name for number, name in parts}

    @property
    def layers(self) -> list[int]:
        """Layers that have attention, counted from 1."""
        every = range(1, int(self.run["n_layers"]) + 1)
        return [layer for layer in every if layer not in self.without_attention]

    @property
    def windows(self) -> dict[int, int | None]:
        """Window of each layer with attention, in tokens; None without one."""
        sizes = self.facts.get("windows", _ALL).split(", ")
        of_attention = (size for size in sizes if size != _NONE)
        given = dict(zip(self.layers, of_attention, strict=False))
        sizes_by_layer = {layer: given.get(layer, _ALL) for layer in self.layers}
        return {
            layer: None if size == _ALL else int(size) for layer, size in sizes_by_layer.items()
        }

    @property
    def layer_order(self) -> LayerOrder:
        """Scopes and effects of the model's layers."""
        return ORDERS[self.facts["layer_order"]]

    @property
    def is_causal(self) -> bool:
        """Return True if the model masks later tokens."""
        return self.facts["attention"] == "causal"

    @property
    def turns_positions(self) -> bool:
        """Return True if the model rotates queries and keys by their positions."""
        return self.facts["positions_by"] == TURNED

    @property
    def knows_offsets(self) -> bool:
        """Return True if scores depend on offsets, so that position alone has a kernel."""
        return self.facts["positions_by"] in (TURNED, DISTANCE)

    @property
    def has_offsets(self) -> bool:
        """Return True if the model's positions are places in the sequence, not rows and columns."""
        return self.facts["positions_by"] != PATCHES

    @property
    def adds_positions(self) -> bool:
        """Return True if the model adds position vectors to its input."""
        return self.facts["positions_by"] == ADDED

    @property
    def shows_images(self) -> bool:
        """Return True if the sequences are images."""
        return self.facts["input"] == IMAGES

    @property
    def weight_bits(self) -> str:
        """Bits of each weight before it was made float; empty if it was not quantised."""
        return self.facts.get("weight_bits", "")

    @property
    def is_for_show(self) -> bool:
        """Return True if the model was trained for this project, as a small demonstration."""
        return self.run["model"] in _FOR_SHOW and self.random_weights is None

    @property
    def random_weights(self) -> int | None:
        """Seed of the weights of an untrained model; None if it is trained."""
        seed = self.facts.get("random_weights", "none")
        return None if seed == "none" else int(seed)


class Replaced(OSError):
    """Raised if another file replaced the one that was found, before it was opened."""


def seen_once() -> AbstractContextManager[None]:
    """Fix each file to the version found first while the block runs.

    No page mixes a file with its replacement.
    """
    return within_part()


def seen() -> dict[Path, Version]:
    """Files that this run has found, by path."""
    return present_run().versions


def version_of(path: Path) -> Version:
    """Version of a file now, or at the time when this run found it first.

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
    """Yield a cursor of its own on a file, for at most a minute; safe with several threads.

    Raises:
        Replaced: if the file was replaced or removed, and was not opened before.
        OtherSchema: if the file is of another version of this program.
        BrokenContract: if it is not of this program, or was changed.
        Locked: if another process holds it open for writing.
        TooSlow: if a query takes too long.
        duckdb.Error: if it cannot be read.
    """
    with _attached(version).cursor() as opened, time_limit(opened, SECONDS):
        yield opened


def described(version: Version) -> Store:
    """Return the description of a file; raises the errors of `cursor`."""
    outcome = _described(version)
    if isinstance(outcome, UserError):
        raise outcome.with_traceback(None)
    return outcome


@st.cache_resource(max_entries=64, show_spinner=False)
def _described(version: Version) -> Store | OtherSchema | BrokenContract:
    """Describe a file, or return the error that it is not of this program; both are cached."""
    try:
        with cursor(version) as store:
            return Store(
                version,
                run(store),
                facts=provenance(store),
                rows=rows(store),
                content=_content(store),
            )
    except (OtherSchema, BrokenContract) as error:
        return error


def looked_at(path: Path) -> Store:
    """Describe the file as it is now, or as this run found it first.

    If it is replaced before this run has shown anything of it, the replacement is described: a run
    that started again before it knows its page would show the first page.

    Raises:
        Replaced: the file is replaced again and again, or parts of the first one are shown already.
    """
    for _ in range(0 if path in seen() else _LOOKS):
        with suppress(Replaced):
            return described(version_of(path))
        seen().pop(path, None)
    return described(version_of(path))


def _content(store: DuckDBPyConnection) -> str:
    """Code of eight letters for the content of a file's tables."""
    query = "select name, n_rows, checksum from stored.manifest order by name"
    return sha256(repr(store.execute(query).fetchall()).encode()).hexdigest()[:8]


def _check_there(version: Version) -> None:
    """Raise `Replaced` if the file was replaced or removed."""
    with suppress(OSError):
        if _version_now(Path(version.path)) == version:
            return
    raise Replaced(f"{version.name} was replaced")


@st.cache_resource(max_entries=12, on_release=lambda store: store.close(), show_spinner=False)
def _attached(version: Version) -> DuckDBPyConnection:
    """Attach a file to an in-memory database without other access, with its views by name."""
    store = duckdb.connect(":memory:")
    try:
        with time_limit(store, SECONDS):
            attach(store, version.path)
        _check_there(version)
    except BaseException:
        store.close()
        raise
    return store
