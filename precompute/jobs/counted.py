"""Counts of the same thing added up, without a database: shards have millions of them."""

import numpy as np
import pyarrow as pa

from analysis.statistics.base.tables import Table


def added_up(table: Table, rows: pa.Table) -> pa.Table:
    """One row for each key of a table that is `counted`, in the order of its key.

    Raises:
        ValueError: if the key has more values than 64 bits can number.
    """
    rows = rows.unify_dictionaries().combine_chunks()
    columns = [_whole_numbers(rows[column.name]) for column in table.key]
    code = np.ravel_multi_index(columns, [int(numbers.max(initial=0)) + 1 for numbers in columns])
    order = code.argsort(kind="stable")  # which is quick where some rows are in order already
    in_order = code[order]
    first = np.flatnonzero(np.diff(in_order, prepend=-1))
    summed = rows.take(order[first])
    for column in table.columns[len(table.key) :] if len(first) else ():
        place = rows.column_names.index(column.name)
        sums = np.add.reduceat(rows[column.name].to_numpy()[order], first)
        summed = summed.set_column(place, rows.field(place), pa.array(sums))
    return summed.cast(table.schema)


def _whole_numbers(column: pa.ChunkedArray) -> np.ndarray:
    """A column of a key as numbers from 0; of names their places."""
    if not pa.types.is_dictionary(column.type):
        return column.to_numpy()
    return column.combine_chunks().indices.to_numpy()
