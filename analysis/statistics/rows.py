"""Rows of a table in its contract's types."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
from jaxtyping import Float

from analysis.statistics.base.tables import Table
from analysis.token_types import TOKEN_TYPES


def table_of(table: Table, **columns: np.ndarray | pa.Array) -> pa.Table:
    """Return rows of a shard, from columns by name."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({name: arrays[name] for name in table.shard_schema.names}).cast(
        table.shard_schema
    )


def parts_of_shard(table: Table, parts: Iterable[pa.Table]) -> pa.Table:
    """Return the rows of a shard from parts of it, of which there may be none."""
    return pa.concat_tables([table.shard_schema.empty_table(), *parts])


def rows_of(table: Table, frames: list[pd.DataFrame]) -> pa.Table:
    """Return frames as rows of a table; a column that a frame lacks is NULL there."""
    parts = [
        pa.Table.from_pandas(
            frame.assign(**dict.fromkeys(set(table.schema.names) - set(frame))),
            schema=table.schema,
            preserve_index=False,
        )
        for frame in frames
    ]
    return pa.concat_tables([table.schema.empty_table(), *parts])


def names_of(places: np.ndarray, names: tuple[str, ...] = TOKEN_TYPES) -> pa.DictionaryArray:
    """Return names in the store's type, from their indices in a list; by default the token
    types."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), pa.array(names))


def one_name(name: str, names: tuple[str, ...], n_rows: int) -> pa.DictionaryArray:
    """Return one of the names for every row, in the store's type."""
    return names_of(np.full(n_rows, names.index(name)), names)


def lists_of(rows: Float[np.ndarray, "row value"]) -> pa.ListArray:
    """Return every row as a list in float32, with NULL for NaN."""
    starts = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    values = pa.array(rows.ravel().astype(np.float32), mask=np.isnan(rows).ravel())
    return pa.ListArray.from_arrays(starts, values)


def nulls_where(values: Float[np.ndarray, " row"]) -> pa.Array:
    """Return the values as a column with NULL for NaN."""
    return pa.array(values, mask=np.isnan(values))
