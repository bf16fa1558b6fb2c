"""Means over sequences, with their intervals, of what shards hold of each sequence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import Redraws
from analysis.measures.norms.token_type_mixing import bootstrap_interval, sequence_means
from analysis.tables.table import Table
from precompute.passes.base import FitContext


def by_sequence(
    rows: pd.DataFrame, *, cell: list[str], value: str
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The cells there are, one per row, the sequences, and values sequence × cell.

    A value is NaN where its row is missing.
    """
    table = rows.pivot(index="seq", columns=cell, values=value)
    cells = table.columns.to_frame(index=False)
    return cells, table.index.to_numpy(), table.to_numpy(dtype=np.float64)


def zero_where_absent(
    cells: pd.DataFrame, values: np.ndarray, quantities: tuple[str, ...]
) -> np.ndarray:
    """The values with 0 where a sequence has no token that some quantities are about."""
    of_types = cells["quantity"].isin(quantities).to_numpy()
    return np.where(of_types, np.nan_to_num(values), values)


def with_intervals(cells: pd.DataFrame, values: np.ndarray, drawn: Redraws) -> pd.DataFrame:
    """The cells with mean, low, high, and n_sequences: the sequences with a value, which count.

    Cells without a value in any sequence are left out.
    """
    present = ~np.isnan(values)
    filled = np.nan_to_num(values)
    low, high = bootstrap_interval(filled, present, drawn)
    mean = sequence_means(filled, present, np.ones((1, len(values))))[0]
    means = cells.assign(mean=mean, low=low, high=high, n_sequences=present.sum(axis=0))
    return means[means["n_sequences"] > 0]


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
    rows: pd.DataFrame,
    context: FitContext,
    *,
    cell: list[str],
    value: str = "mean",
    zero: tuple[str, ...] = (),
) -> pd.DataFrame:
    """The cells of some rows by sequence, with the mean under the name of its value, low, high and
    n_sequences.

    Args:
        zero: quantities that are 0 where a sequence has no token that they are about.
    """
    cells, sequences, values = by_sequence(rows, cell=cell, value=value)
    values = zero_where_absent(cells, values, zero) if zero else values
    found = with_intervals(cells, values, context.redraws(sequences))
    return found.rename(columns={"mean": value})


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
    then: Callable[[pd.DataFrame], list[pd.DataFrame]] = lambda found: [found]

    def frames(self, store: DuckDBPyConnection, context: FitContext) -> list[pd.DataFrame]:
        """The rows of a table, nowhere any if no sequence has one."""
        pieces: list[dict[str, Any]] = [{}]
        if self.per:
            pieces = store.sql(self.per).to_arrow_table().to_pylist()
        frames = []
        for piece in pieces:
            rows = store.execute(self.query, piece).df()
            if len(rows):
                found = means(rows, context, cell=self.cell, value=self.value, zero=self.zero)
                frames += self.then(found.assign(**piece))
        return frames


def mean_over_sequences(
    table: Table, *declared: Means
) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """The fit of a pass that fills its table with means over sequences and nothing else."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return rows_of(table, [frame for each in declared for frame in each.frames(store, context)])

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
