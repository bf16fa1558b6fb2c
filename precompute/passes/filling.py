"""Filling of tables from the layers of a batch, one layer after the other."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from analysis.models.trace import LayerWeights, ModelWeights
from analysis.needs import Need
from analysis.statistics.base.tables import Table
from precompute import passes
from precompute.jobs.memory import return_unused_pages
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Batch, Layer, run_layers
from precompute.passes.rows import parts_of_shard

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
    if batch.has_gaps and Need.EVERY_LAYER in table.needs:
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
    """Return the names of all modules that hold passes."""
    modules = walk_packages(passes.__path__, f"{passes.__name__}.")
    return [module.name for module in modules if not module.ispkg]
