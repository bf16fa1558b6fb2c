"""Kinds of passes, each of which fills one table, and helpers for their rows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int, Int32

from analysis.measures.bootstrap import Redraws, redraws
from analysis.scopes import LayerOrder
from analysis.statistics.table import Table
from precompute.corpora.sequence import TOKEN_TYPES
from precompute.corpora.word_vectors import WordVectors

if TYPE_CHECKING:  # which load torch
    from analysis.models.trace import ModelWeights
    from precompute.passes.batch import Batch


@dataclass(frozen=True)
class FitContext:
    """Context of a fit beside the store: the run's seed, layer order and given files.

    The store's table `blocks` has the block of each sequence: its own block if sequences are few.
    `documents` holds a number for the document of each block; None if each is its own document.
    """

    seed: int
    order: LayerOrder
    frequency_ranks: Mapping[str, np.ndarray]
    word_vectors: WordVectors | None = None
    documents: Int32[np.ndarray, " block"] | None = None
    _last: dict[bytes, Redraws] = field(default_factory=dict)

    def redraws(self, blocks: Int[np.ndarray, " value"]) -> Redraws:
        """Resamples of some blocks of sequences; windows of one document are resampled together.

        The last resamples are cached: most queries of a fit are about the same blocks.
        """
        units = blocks if self.documents is None else self.documents[blocks]
        asked = units.tobytes()
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = redraws(units, seed=self.seed)
        return self._last[asked]


@runtime_checkable
class Named(Protocol):
    """Common attributes of passes: the table, and a version to raise when its numbers change."""

    @property
    def __name__(self) -> str: ...

    @property
    def TABLE(self) -> Table: ...

    @property
    def VERSION(self) -> int: ...


@runtime_checkable
class Totals(Named, Protocol):
    """A module that turns traced batches into rows; rows of any cut of the corpus add up.

    `TABLE.merge` defines the sums.
    """

    @staticmethod
    def totals(batch: "Batch") -> pa.Table: ...


@runtime_checkable
class Weights(Named, Protocol):
    """A module that needs a model and no corpus."""

    @staticmethod
    def weights(model: "ModelWeights") -> pa.Table: ...


@runtime_checkable
class Fit(Named, Protocol):
    """A module that reads the tables of other passes, named in NEEDS.

    It reads and writes layers and heads counted from 1.
    """

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    @staticmethod
    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table: ...


Pass = Totals | Weights | Fit


def needs_of(of: Pass) -> tuple[str, ...]:
    """Return the tables that a pass requires; only fits read any."""
    return getattr(of, "NEEDS", ())


def evenly_spaced(indices: Iterable[int], n: int) -> frozenset[int]:
    """Return all indices, or n evenly spaced ones if there are more."""
    ordered = indices if isinstance(indices, range) else sorted(indices)
    n = min(n, len(ordered))
    return frozenset(ordered[place * len(ordered) // n] for place in range(n))


def names_of(places: np.ndarray, names: tuple[str, ...] = TOKEN_TYPES) -> pa.DictionaryArray:
    """Return names in the store's type, from their indices in a list; by default the token
    types."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), pa.array(names))


def one_name(name: str, names: tuple[str, ...], n_rows: int) -> pa.DictionaryArray:
    """Return one of the names for every row, in the store's type."""
    return names_of(np.full(n_rows, names.index(name)), names)


def table_of(table: Table, **columns: np.ndarray | pa.Array) -> pa.Table:
    """Return rows of a shard in their contract's types, from columns by name."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({name: arrays[name] for name in table.shard_schema.names}).cast(
        table.shard_schema
    )


def lists_of(rows: Float[np.ndarray, "row value"]) -> pa.ListArray:
    """Return every row as a list in float32, with NULL for NaN."""
    starts = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    values = pa.array(rows.ravel().astype(np.float32), mask=np.isnan(rows).ravel())
    return pa.ListArray.from_arrays(starts, values)


def nulls_where(values: Float[np.ndarray, " row"]) -> pa.Array:
    """Return the values as a column with NULL for NaN."""
    return pa.array(values, mask=np.isnan(values))


def fit_of_query(table: Table, sql: str) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """Return the fit of a pass that consists of one query."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return from_query(table, store, sql)

    return fit


def from_query(table: Table, store: DuckDBPyConnection, sql: str) -> pa.Table:
    """Return the rows of a query in the types of a table's contract."""
    return (
        store.sql(sql).to_arrow_table().select([c.name for c in table.columns]).cast(table.schema)
    )
