"""Means over sequences with intervals, from shards with rows of each sequence.

Memory holds one sum and one count per block and cell, however many sequences there are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import means_of_sums
from analysis.statistics.base.tables import Table
from analysis.statistics.fit import Fit, FitContext
from analysis.statistics.rows import rows_of

NOTHING: Mapping[str, Any] = {}
SLICE = 2**17
"""Sequences per slice of a query over all sequences, so that it fits into memory."""


@dataclass(frozen=True)
class BlockSums:
    """Sums over blocks of sequences by cell, and the numbers of sequences behind them.

    `cells` has one row per cell.
    """

    cells: pd.DataFrame
    blocks: Int[np.ndarray, " block"]
    sums: Float[np.ndarray, "block cell"]
    counts: Float[np.ndarray, "block cell"]

    def absent_as_zero(
        self, sizes: Float[np.ndarray, " block"], where: np.ndarray | bool = True
    ) -> "BlockSums":
        """Count sequences without a number as 0 in some cells.

        Args:
            sizes: number of sequences in each block.
        """
        return replace(self, counts=np.where(where, sizes[:, None], self.counts))

    def mean(self) -> Float[np.ndarray, " cell"]:
        """Return the mean of every cell; NaN without a number."""
        return means_of_sums(self.sums, self.counts, np.ones((1, len(self.sums))))[0]

    def with_intervals(self, context: FitContext) -> pd.DataFrame:
        """Return the cells with mean, low, high, and n_sequences: the sequences that count.

        Cells without a number in any sequence are left out.
        """
        drawn = context.redraws(self.blocks)
        resampled = means_of_sums(self.sums, self.counts, drawn.weights)
        low, high = drawn.interval(resampled, self.counts > 0)
        n_sequences = self.counts.sum(axis=0).astype(np.int64)
        columns = {"mean": self.mean(), "low": low, "high": high, "n_sequences": n_sequences}
        return self.cells.assign(**columns)[n_sequences > 0]


def by_block(
    store: DuckDBPyConnection,
    query: str,
    *,
    cell: list[str],
    value: str = "mean",
    asked: Mapping[str, Any] = NOTHING,
) -> BlockSums:
    """Sum a query's numbers of each sequence (seq, the cell, the value) by block.

    NULL and NaN do not count.
    """
    names = ", ".join(f'"{column}"' for column in cell)

    def of_slice(some: str) -> str:
        return f"""
            select block, {names}, coalesce(fsum(number), 0) as total, count(number)::double as n
            from (select *, nullif("{value}"::double, 'nan') as number from ({query}) where {some})
            join blocks using (seq)
            group by block, {names}
        """

    asked = dict(asked)
    one, *more = map(of_slice, slices(store))
    if more:
        _gather(store, "sums_of_slices", of_slice, asked)
        one, asked = "from sums_of_slices", {}
    rows = store.execute(
        f"""
        select block, {names}, fsum(total) as total, sum(n) as n
        from ({one})
        group by block, {names}
        order by {names}, block
        """,
        asked,
    ).df()
    return _spread(rows, cell)


def _spread(rows: pd.DataFrame, cell: list[str]) -> BlockSums:
    """Return sums and counts by block and cell, from one row for each, ordered by cell."""
    is_new = ~rows.duplicated(cell)
    cells = rows.loc[is_new, cell].reset_index(drop=True)
    blocks, block = np.unique(rows["block"].to_numpy(), return_inverse=True)
    sums, counts = np.zeros((2, len(blocks), len(cells)))
    places = block, is_new.cumsum().to_numpy() - 1
    sums[places], counts[places] = rows["total"], rows["n"]
    return BlockSums(cells, blocks, sums, counts)


def block_sizes(
    store: DuckDBPyConnection, query: str, asked: Mapping[str, Any] = NOTHING
) -> Float[np.ndarray, " block"]:
    """Count the sequences of each block with rows in a query, in the order of `by_block`."""
    make_table(store, "seqs_there", f"select distinct seq from ({query})", asked)
    sizes = """
        select count(*)::double as n from seqs_there
        join blocks using (seq) group by block order by block
    """
    return store.sql(sizes).df()["n"].to_numpy()


def slices(store: DuckDBPyConnection) -> Iterator[str]:
    """Yield conditions on `seq` that cut all sequences into slices of `SLICE` neighbours."""
    last = store.sql("select max(seq) from blocks").fetchall()[0][0] or 0
    for first in range(0, last + 1, SLICE):
        yield f"seq between {first} and {first + SLICE - 1}"


def make_table(
    store: DuckDBPyConnection, name: str, query: str, asked: Mapping[str, Any] = NOTHING
) -> None:
    """Create or replace a temporary table with a query's rows for all sequences."""
    _gather(store, name, lambda some: f"from ({query}) where {some}", asked)


def _gather(
    store: DuckDBPyConnection, name: str, query: Callable[[str], str], asked: Mapping[str, Any]
) -> None:
    """Create a temporary table from a query that takes a condition on `seq`, slice by slice."""
    into = f"create or replace temp table {name} as"
    for some in slices(store):
        store.execute(f"{into} {query(some)}", dict(asked))
        into = f"insert into {name}"


def means(
    store: DuckDBPyConnection,
    query: str,
    context: FitContext,
    *,
    cell: list[str],
    value: str = "mean",
    zero: tuple[str, ...] = (),
    asked: Mapping[str, Any] = NOTHING,
) -> pd.DataFrame:
    """Means of a query's rows by cell, with intervals and n_sequences.

    The column of the mean has the name of the value. The frame is empty if no sequence has a row.

    Args:
        zero: quantities that are 0 in sequences without a token that they are about.
    """
    sums = by_block(store, query, cell=cell, value=value, asked=asked)
    if zero:
        of_types = sums.cells["quantity"].isin(zero).to_numpy()
        sums = sums.absent_as_zero(block_sizes(store, query, asked), of_types)
    return sums.with_intervals(context).rename(columns={"mean": value})


@dataclass(frozen=True)
class Means:
    """Declaration of means over sequences: a query for rows by sequence, and options of `means`.

    The query runs once for each row of `per`, whose values are its parameters and join its cells,
    so that each result fits into memory; `then` turns each result into frames for the table.
    """

    query: str
    cell: list[str]
    value: str = "mean"
    zero: tuple[str, ...] = ()
    per: str = ""
    then: Callable[[pd.DataFrame], list[pd.DataFrame]] = lambda frame: [frame]

    def frames(self, store: DuckDBPyConnection, context: FitContext) -> list[pd.DataFrame]:
        """Return the rows of a table; empty if no sequence has any."""
        pieces: list[dict[str, Any]] = [{}]
        if self.per:
            pieces = store.sql(self.per).to_arrow_table().to_pylist()
        frames = []
        for piece in pieces:
            frame = means(
                store,
                self.query,
                context,
                cell=self.cell,
                value=self.value,
                zero=self.zero,
                asked=piece,
            )
            frames += self.then(frame.assign(**piece))
        return frames


def mean_of(*declared: Means) -> Fit:
    """Return the fit of a table that holds means over sequences alone."""

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return rows_of(table, [frame for part in declared for frame in part.frames(store, context)])

    return fit


def layers_and_mean(view: str) -> str:
    """Return a query for the layers of a view, and NULL for all together, as `Means.per`."""
    return f"select distinct unnest([layer, null]) as layer from {view} order by layer nulls last"


def both_ways(one: str, other: str) -> Callable[[pd.DataFrame], list[pd.DataFrame]]:
    """Return a function that adds each stored pair with its sides exchanged, as `Means.then`."""

    def exchanged(pairs: pd.DataFrame) -> list[pd.DataFrame]:
        others = pairs[pairs[one] != pairs[other]]
        return [pairs, others.rename(columns={one: other, other: one})]

    return exchanged
