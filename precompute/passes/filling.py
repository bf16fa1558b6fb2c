"""Rows of tables from the layers of a batch, one after the other: filling, and what a key holds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from analysis.models.trace import LayerWeights, ModelWeights
from analysis.needs import Need
from analysis.statistics.base.columns import POS, SEQ, Column
from analysis.statistics.base.tables import Table
from precompute import passes
from precompute.jobs.memory import return_unused_pages
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Batch, Layer, run_layers

Filler = TypeVar("Filler", bound=Callable[..., Any])
Rows = pa.Table | Iterable[pa.Table]
"""Rows of a table, whole or in parts, of which there may be none."""
_LARGE = 64 * 2**20
"""Bytes of a layer's attention beyond which holes in memory would grow from layer to layer."""


class Filling(Protocol):
    """Rows of one batch in the making: layers are added first to last, then rows are asked for.

    What a class keeps between layers counts for the memory of a run.
    """

    def add(self, layer: Layer) -> None: ...

    def rows(self) -> pa.Table: ...


MET: Mapping[Need, Callable[[LayerWeights], bool]] = {
    Need.OWN_VECTORS: lambda weights: weights.gate is None,
    Need.AFFINE_VECTORS: lambda weights: weights.transforms_linearly,
    Need.OWN_SCORES: lambda weights: weights.offset_terms is None,
    Need.SINK_LOGITS: lambda weights: weights.sink_logit is not None,
}
"""Tests of whether a layer meets a need."""


def fills(table: Table) -> Callable[[Filler], Filler]:
    """Mark what fills a table.

    It is a function from a layer to rows; a class that is made of a batch, is given its layers and
    has rows at the end (`Filling`); or, for a table of the model, a function from its weights.
    Functions are not asked where the needs of the table are not met.
    """

    def marked(filler: Any) -> Any:
        made: Any = filler if isinstance(filler, type) else _where_met(table, filler)
        made.fills = table.name
        return made

    return marked


def _where_met(table: Table, filler: Callable[[Any], Rows]) -> Callable[[Any], Rows]:
    @wraps(filler)
    def filled(of: Any) -> Rows:
        layers = of.layers if table.of_model else (of.weights,)
        met = (MET[need](layer) for need in table.needs if need in MET for layer in layers)
        return filler(of) if all(met) else ()

    return filled


class _LayerByLayer:
    """Filling whose rows of a layer follow from that layer alone."""

    def __init__(self, table: Table, rows_of_layer: Callable[[Layer], Rows]):
        self._rows_of_layer = rows_of_layer
        self._table, self._parts = table, list[pa.Table]()

    def add(self, layer: Layer) -> None:
        self._parts += _parts_of(self._rows_of_layer(layer))

    def rows(self) -> pa.Table:
        return parts_of_shard(self._table, self._parts)


class FromBatch:
    """Base of fillings from a batch as a whole; layers as they are traced are not read."""

    def __init__(self, batch: Batch):
        self.batch = batch

    def add(self, layer: Layer) -> None:
        """Read nothing."""


def rows_of_batch(tables: Iterable[Table], model: LoadedModel, batch: Batch) -> dict[str, pa.Table]:
    """Return the rows of several tables for one batch, by name, from one forward pass."""
    fillings = {table.name: begin(table, batch) for table in tables}

    def add(layer: Layer) -> None:
        for filling in fillings.values():
            filling.add(layer)
        if layer.attention.nbytes > _LARGE:
            return_unused_pages()

    run_layers(model, batch, add)
    rows = {name: filling.rows() for name, filling in fillings.items()}
    batch.let_go()
    return rows


def begin(table: Table, batch: Batch) -> Filling:
    """Return the filling of a table for one batch; of nothing if that has gaps and may not."""
    if batch.model.reading.without_attention and Need.EVERY_LAYER in table.needs:
        return _LayerByLayer(table, lambda _: table.shard_schema.empty_table())
    filler = _fillers()[table.name]
    return filler(batch) if isinstance(filler, type) else _LayerByLayer(table, filler)


def rows_of_weights(table: Table, model: ModelWeights) -> pa.Table:
    """Return the rows of a table that follows from the weights alone."""
    return parts_of_shard(table, _parts_of(_fillers()[table.name](model)))


def _parts_of(rows: Rows) -> Iterable[pa.Table]:
    return [rows] if isinstance(rows, pa.Table) else rows


@cache
def _fillers() -> dict[str, Callable[..., Any]]:
    """Return what fills each table, by the table's name."""
    modules = (import_module(name) for name in modules_of_passes())
    found = (value for module in modules for value in vars(module).values())
    return {value.fills: value for value in found if isinstance(getattr(value, "fills", 0), str)}


def modules_of_passes() -> list[str]:
    modules = walk_packages(passes.__path__, f"{passes.__name__}.")
    return [module.name for module in modules if not module.ispkg]


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
    arrays = {name: array_of(of_column) for name, of_column in numbers.items()}
    chosen = array_of(there)
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
        there = array_of(there) & array_of(batch.is_token)[own]
        numbers["token_type"] = array_of(batch.token_types)[own]
    known = {"seq": batch.sequence_of_row}
    return rows(table, axes, there=there, stands_for=known, layer=layer.weights.number, **numbers)


def by_name(names: Sequence[str], numbers: Tensor) -> dict[str, Tensor]:
    """Return the numbers along the last axis by their names."""
    return dict(zip(names, numbers.unbind(-1), strict=True))


def places_of(names: Iterable[str], among: tuple[str, ...]) -> np.ndarray:
    """Return the places of some names among all that a column may hold."""
    return np.array([among.index(name) for name in names])


def array_of(numbers: Numbers) -> np.ndarray:
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
