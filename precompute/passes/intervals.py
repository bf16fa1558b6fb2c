"""Means over sequences, with their intervals, of what shards hold of each sequence."""

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.measures.bootstrap import Redraws
from analysis.measures.norms.token_type_mixing import bootstrap_interval, sequence_means
from analysis.tables.table import Table


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
