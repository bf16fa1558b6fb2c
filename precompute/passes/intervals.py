"""Means over sequences, with their intervals, of what shards hold of each sequence.

What is held at a time is a sum and a count of every block, however many sequences there are.
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
from analysis.measures.mixing.mixing_ratio import pooled_interval
from analysis.tables.table import Table
from precompute.passes.base import FitContext

NOTHING: Mapping[str, Any] = {}
SLICE = 2**17
"""Sequences that a question to all of them is asked of at a time, so that it fits into memory."""


@dataclass(frozen=True)
class BlockSums:
    """What blocks of sequences have in each of some cells: a sum, and of how many sequences it is.

    `cells` has one row per cell.
    """

    cells: pd.DataFrame
    blocks: Int[np.ndarray, " block"]
    sums: Float[np.ndarray, "block cell"]
    counts: Float[np.ndarray, "block cell"]

    def absent_as_zero(
        self, sizes: Float[np.ndarray, " block"], where: np.ndarray | bool = True
    ) -> "BlockSums":
        """The same, with a 0 in some cells for sequences that have no number there.

        Args:
            sizes: how many sequences each block has.
        """
        return replace(self, counts=np.where(where, sizes[:, None], self.counts))

    def mean(self) -> Float[np.ndarray, " cell"]:
        """The mean of every cell; NaN where it has no number."""
        return means_of_sums(self.sums, self.counts, np.ones((1, len(self.sums))))[0]

    def with_intervals(self, context: FitContext) -> pd.DataFrame:
        """The cells with mean, low, high, and n_sequences: the sequences that count.

        Cells without a number in any sequence are left out.
        """
        low, high = pooled_interval(self.sums, self.counts, context.redraws(self.blocks))
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
    """The numbers that a query has of each sequence (seq, the cell, the value), summed by block.

    What is NULL or NaN is no number.
    """
    names = ", ".join(f'"{column}"' for column in cell)

    def of_slice(some: str) -> str:
        return f"""
            select block, {names}, coalesce(fsum(number), 0) as total, count(number)::double as n
            from (select *, nullif("{value}"::double, 'nan') as number from ({query}) where {some})
            join blocks using (seq)
            group by block, {names}
        """

    _gather(store, "sums_of_slices", of_slice, asked)
    rows = store.sql(
        f"""
        select block, {names}, fsum(total) as total, sum(n) as n
        from sums_of_slices
        group by block, {names}
        order by {names}, block
        """
    ).df()
    totals, n = (
        rows.pivot(index="block", columns=cell, values=column) for column in ("total", "n")
    )
    sums, counts = (np.nan_to_num(frame.to_numpy(dtype=np.float64)) for frame in (totals, n))
    return BlockSums(totals.columns.to_frame(index=False), totals.index.to_numpy(), sums, counts)


def block_sizes(
    store: DuckDBPyConnection, query: str, asked: Mapping[str, Any] = NOTHING
) -> Float[np.ndarray, " block"]:
    """How many sequences of each block have any row in a query, in the order of `by_block`."""
    make_table(store, "seqs_there", f"select distinct seq from ({query})", asked)
    sizes = """
        select count(*)::double as n from seqs_there
        join blocks using (seq) group by block order by block
    """
    return store.sql(sizes).df()["n"].to_numpy()


def slices(store: DuckDBPyConnection) -> Iterator[str]:
    """Conditions on `seq` that cut all sequences into neighbours, `SLICE` at a time."""
    last = store.sql("select max(seq) from blocks").fetchall()[0][0] or 0
    for first in range(0, last + 1, SLICE):
        yield f"seq between {first} and {first + SLICE - 1}"


def make_table(
    store: DuckDBPyConnection, name: str, query: str, asked: Mapping[str, Any] = NOTHING
) -> None:
    """A temporary table, in place of one of its name, of what a query has of all sequences."""
    _gather(store, name, lambda some: f"from ({query}) where {some}", asked)


def _gather(
    store: DuckDBPyConnection, name: str, query: Callable[[str], str], asked: Mapping[str, Any]
) -> None:
    """The same of a query that is made for a condition on `seq`."""
    empty = f"create or replace temp table {name} as {query('false')}"
    store.execute(empty, dict(asked))
    for some in slices(store):
        store.execute(f"insert into {name} {query(some)}", dict(asked))


def rows_of(table: Table, frames: list[pd.DataFrame]) -> pa.Table:
    """Frames as rows of a table; a column that a frame lacks is NULL there."""
    parts = [
        pa.Table.from_pandas(
            frame.assign(**dict.fromkeys(set(table.schema.names) - set(frame))),
            schema=table.schema,
            preserve_index=False,
        )
        for frame in frames
    ]
    return pa.concat_tables([table.schema.empty_table(), *parts])


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
    """The cells of a query's rows, with the mean under the name of its value, low, high and
    n_sequences; nowhere any if no sequence has a row.

    Args:
        zero: quantities that are 0 where a sequence has no token that they are about.
    """
    sums = by_block(store, query, cell=cell, value=value, asked=asked)
    if zero:
        of_types = sums.cells["quantity"].isin(zero).to_numpy()
        sums = sums.absent_as_zero(block_sizes(store, query, asked), of_types)
    return sums.with_intervals(context).rename(columns={"mean": value})


@dataclass(frozen=True)
class Means:
    """Means over sequences, declared: a query for rows by sequence, and what `means` makes of them.

    The query is asked once for each row of `per`, which it is given and which joins its cells, so
    that what is held at a time fits into memory; `then` makes frames for the table of each answer.
    """

    query: str
    cell: list[str]
    value: str = "mean"
    zero: tuple[str, ...] = ()
    per: str = ""
    then: Callable[[pd.DataFrame], list[pd.DataFrame]] = lambda frame: [frame]

    def frames(self, store: DuckDBPyConnection, context: FitContext) -> list[pd.DataFrame]:
        """The rows of a table, nowhere any if no sequence has one."""
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


def mean_over_sequences(
    table: Table, *declared: Means
) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """The fit of a pass that fills its table with means over sequences and nothing else."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return rows_of(table, [frame for part in declared for frame in part.frames(store, context)])

    return fit


def layers_and_mean(view: str) -> str:
    """The layers of a view, and NULL for all of them together, as `Means.per`."""
    return f"select distinct unnest([layer, null]) as layer from {view} order by layer nulls last"


def both_ways(one: str, other: str) -> Callable[[pd.DataFrame], list[pd.DataFrame]]:
    """Pairs that are stored once also with their sides exchanged, as `Means.then`."""

    def exchanged(pairs: pd.DataFrame) -> list[pd.DataFrame]:
        others = pairs[pairs[one] != pairs[other]]
        return [pairs, others.rename(columns={one: other, other: one})]

    return exchanged
