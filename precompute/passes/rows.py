"""Rows of passes: what a key holds follows from the axes of the numbers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.statistics.base.columns import POS, SEQ, Column
from analysis.statistics.base.tables import Table
from precompute.passes.layers import Layer

Numbers = np.ndarray | Tensor | float
NOTHING: Mapping[str, np.ndarray] = {}


def rows(
    table: Table,
    axes: Sequence[Column] = (),
    *,
    there: Numbers = True,
    stands_for: Mapping[str, np.ndarray] = NOTHING,
    **numbers: Numbers,
) -> pa.Table:
    """Return a row of a shard for each place of some arrays where `there` is true.

    Arrays are broadcast, so that one number may stand for all. NaN is NULL where NULL is allowed,
    and in lists, which are the last axis of the arrays of their columns. A column of names takes
    places among them.

    Args:
        axes: columns that the arrays' axes are, places counted from the least that they may be.
        stands_for: what places on an axis stand for instead, by the column's name.
    """
    arrays = {name: _array(of_column) for name, of_column in numbers.items()}
    chosen = _array(there)
    lists = {column.name for column in table.shard_columns if pa.types.is_list(column.type)}
    ends = {name: array.shape[-1:] if name in lists else () for name, array in arrays.items()}
    shapes = (array.shape[: array.ndim - len(ends[name])] for name, array in arrays.items())
    shape = np.broadcast_shapes((1,), chosen.shape, *shapes)
    chosen = np.broadcast_to(chosen, shape)
    columns = {
        name: np.broadcast_to(array, shape + ends[name])[chosen] for name, array in arrays.items()
    }
    for axis, places in zip(axes, chosen.nonzero(), strict=False):
        meant = stands_for.get(axis.name)
        columns[axis.name] = places + int(axis.least or 0) if meant is None else meant[places]
    cast = {column.name: _column(column, columns[column.name]) for column in table.shard_columns}
    return pa.table(cast, schema=table.shard_schema)


def rows_of_layer(
    layer: Layer,
    table: Table,
    axes: Sequence[Column] = (),
    *,
    there: Numbers = True,
    **numbers: Numbers,
) -> pa.Table:
    """Return rows of one layer, as `rows`; padding has none, and tokens have their types."""
    batch = layer.batch
    if SEQ in axes and POS in axes:
        own = tuple(slice(None) if axis in (SEQ, POS) else None for axis in axes)
        there = _array(there) & _array(batch.is_token)[own]
        numbers["token_type"] = _array(batch.token_types)[own]
    known = {"seq": batch.sequence_of_row}
    return rows(table, axes, there=there, stands_for=known, layer=layer.weights.number, **numbers)


def by_name(names: Sequence[str], numbers: Tensor) -> dict[str, Tensor]:
    """Return the numbers along the last axis by their names."""
    return dict(zip(names, numbers.unbind(-1), strict=True))


def places_of(names: Iterable[str], among: tuple[str, ...]) -> np.ndarray:
    """Return the places of some names among all that a column may hold."""
    return np.array([among.index(name) for name in names])


def _array(numbers: Numbers) -> np.ndarray:
    if isinstance(numbers, Tensor):
        is_narrow = numbers.dtype in (torch.bfloat16, torch.float16)
        numbers = (numbers.float() if is_narrow else numbers).cpu().numpy()
    return np.asarray(numbers)


def _column(column: Column, values: np.ndarray) -> pa.Array:
    if column.type and pa.types.is_list(column.type):
        starts = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
        flat = values.ravel()
        mask = np.isnan(flat) if flat.dtype.kind == "f" else None
        items = pa.array(flat, column.type.value_type, mask=mask)
        return pa.ListArray.from_arrays(starts, items)
    mask = np.isnan(values) if column.nullable else None
    if column.names:
        places = pa.array(np.nan_to_num(values).astype(np.int8), mask=mask)
        return pa.DictionaryArray.from_arrays(places, pa.array(column.names))
    return pa.array(values, column.type, mask=mask)


def parts_of_shard(table: Table, parts: Iterable[pa.Table]) -> pa.Table:
    """Return the rows of a shard from parts of it, of which there may be none."""
    return pa.concat_tables([table.shard_schema.empty_table(), *parts])
