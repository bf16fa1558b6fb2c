"""What a pass is: something with a table that it fills, in one of three ways."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int, Int32

from analysis.measures.bootstrap import Redraws, redraws
from analysis.scopes import LayerOrder
from analysis.tables.table import Table
from precompute.corpora.sequence import TOKEN_TYPES
from precompute.corpora.word_vectors import WordVectors

if TYPE_CHECKING:  # which load torch
    from analysis.models.trace import ModelWeights
    from precompute.passes.batch import Batch


@dataclass(frozen=True)
class FitContext:
    """What a fit may know beside the store: the run's seed, the files it was given, and where the
    model's layers have their normalisations.

    The table `blocks` of the store has the block of each sequence: the sequence itself where they
    are few. `documents` holds a number for the document of each block; None if each stands by
    itself.
    """

    seed: int
    order: LayerOrder
    frequency_ranks: Mapping[str, np.ndarray]
    word_vectors: WordVectors | None = None
    documents: Int32[np.ndarray, " block"] | None = None
    _last: dict[bytes, Redraws] = field(default_factory=dict)

    def redraws(self, blocks: Int[np.ndarray, " value"]) -> Redraws:
        """Resamples of some blocks of sequences, windows of one document drawn together.

        Those of the last blocks are kept: most questions of a fit are about the same ones.
        """
        units = blocks if self.documents is None else self.documents[blocks]
        asked = units.tobytes()
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = redraws(units, seed=self.seed)
        return self._last[asked]


@runtime_checkable
class Named(Protocol):
    """Module of a pass, the table that it fills, and a version to raise when its numbers change."""

    @property
    def __name__(self) -> str: ...

    @property
    def TABLE(self) -> Table: ...

    @property
    def VERSION(self) -> int: ...


@runtime_checkable
class Totals(Named, Protocol):
    """A module that turns traced batches into rows; rows of any cut of the corpus add up.

    What adds up is said by `TABLE.merge`.
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
    """A module that reads what other passes have stored; NEEDS names their tables.

    It finds layers and heads counted from 1, and writes them so.
    """

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    @staticmethod
    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table: ...


Pass = Totals | Weights | Fit


def needs_of(of: Pass) -> tuple[str, ...]:
    """The tables without which a pass is not run; only fits read them."""
    return getattr(of, "NEEDS", ())


def evenly_spaced(indices: Iterable[int], n: int) -> frozenset[int]:
    """All of some indices, or n of them if they are more."""
    ordered = indices if isinstance(indices, range) else sorted(indices)
    n = min(n, len(ordered))
    return frozenset(ordered[place * len(ordered) // n] for place in range(n))


def names_of(places: np.ndarray, names: tuple[str, ...] = TOKEN_TYPES) -> pa.DictionaryArray:
    """Names as the store writes them, from their places in a list; that of token types if none."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), pa.array(names))


def one_name(name: str, names: tuple[str, ...], n_rows: int) -> pa.DictionaryArray:
    """One of the names in every row, as the store writes it."""
    return names_of(np.full(n_rows, names.index(name)), names)


def table_of(table: Table, **columns: np.ndarray | pa.Array) -> pa.Table:
    """Rows of a shard in their contract's types from columns given by name."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({name: arrays[name] for name in table.shard_schema.names}).cast(
        table.shard_schema
    )


def lists_of(rows: Float[np.ndarray, "row value"]) -> pa.ListArray:
    """Every row as one list in float32; what is no number is NULL in it."""
    starts = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    values = pa.array(rows.ravel().astype(np.float32), mask=np.isnan(rows).ravel())
    return pa.ListArray.from_arrays(starts, values)


def nulls_where(values: Float[np.ndarray, " row"]) -> pa.Array:
    """The values as a column that is NULL where they are no number."""
    return pa.array(values, mask=np.isnan(values))


def fit_of_query(table: Table, sql: str) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """The fit of a pass that asks one query and nothing else."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return from_query(table, store, sql)

    return fit


def from_query(table: Table, store: DuckDBPyConnection, sql: str) -> pa.Table:
    """The rows of a query in the types of a table's contract."""
    return (
        store.sql(sql).to_arrow_table().select([c.name for c in table.columns]).cast(table.schema)
    )
