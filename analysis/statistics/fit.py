"""Tables made from other tables: the context of a fit, and fits that are one query."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Int, Int32

from analysis.measures.bootstrap import Redraws, redraws
from analysis.scopes import LayerOrder

if TYPE_CHECKING:  # which names its fit
    from analysis.statistics.base.tables import Table


class Vectors(Protocol):
    """Static vectors of words, and the name of their file."""

    @property
    def name(self) -> str: ...

    @property
    def vectors(self) -> Mapping[str, np.ndarray]: ...

    def of(self, form: str) -> np.ndarray | None: ...


@dataclass(frozen=True)
class FitContext:
    """Context of a fit beside the store: the run's seed, layer order and given files.

    The store's table `blocks` has the block of each sequence: its own block if sequences are few.
    `documents` holds a number for the document of each block; None if each is its own document.
    """

    seed: int
    order: LayerOrder
    frequency_ranks: Mapping[str, np.ndarray]
    word_vectors: Vectors | None = None
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


Fit = Callable[["Table", DuckDBPyConnection, FitContext], pa.Table]
"""Function that fills a table from the tables that it requires.

It reads and writes layers and heads counted from 1.
"""


def query(sql: str) -> Fit:
    """Return the fit of a table that is one query."""

    def fit(table: "Table", store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return from_query(table, store, sql)

    return fit


def from_query(table: "Table", store: DuckDBPyConnection, sql: str) -> pa.Table:
    """Return the rows of a query in the types of a table's contract."""
    return (
        store.sql(sql).to_arrow_table().select([c.name for c in table.columns]).cast(table.schema)
    )
