"""Filling of tables from the layers of a batch, one layer after the other."""

from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from analysis.models.trace import ModelWeights
from analysis.statistics.table import Table
from precompute import passes
from precompute.passes.layers import Batch, Layer

Filler = TypeVar("Filler", bound=Callable[..., Any])


class Filling(Protocol):
    """Rows of one batch in the making: layers are added first to last, then rows are asked for.

    What a class keeps between layers counts for the memory of a run.
    """

    def add(self, layer: Layer) -> None: ...

    def rows(self) -> pa.Table: ...


def fills(table: Table) -> Callable[[Filler], Filler]:
    """Mark what fills a table.

    It is a function from a layer to rows; a class that is made of a batch, is given its layers and
    has rows at the end (`Filling`); or, for a table of the model, a function from its weights.
    """

    def marked(filler: Filler) -> Filler:
        filler.fills = table.name  # type: ignore[attr-defined]
        return filler

    return marked


class _LayerByLayer:
    """Filling whose rows of a layer follow from that layer alone."""

    def __init__(self, table: Table, rows_of_layer: Callable[[Layer], pa.Table]):
        self._rows_of_layer = rows_of_layer
        self._parts = [table.shard_schema.empty_table()]

    def add(self, layer: Layer) -> None:
        self._parts.append(self._rows_of_layer(layer))

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._parts)


def begin(table: Table, batch: Batch) -> Filling:
    """Return the filling of a table for one batch."""
    if table.name not in _fillers():
        return _Whole(table, batch)
    filler = _fillers()[table.name]
    return filler(batch) if isinstance(filler, type) else _LayerByLayer(table, filler)


def rows_of_weights(table: Table, model: ModelWeights) -> pa.Table:
    """Return the rows of a table that follows from the weights alone."""
    if table.name not in _fillers():
        return _old(table).weights(model)
    return _fillers()[table.name](model)


class _Whole:
    """Filling of a pass that reads all layers at once."""

    def __init__(self, table: Table, batch: Batch):
        self.table, self.layers, self.batch = table, batch.shared(_Kept), batch

    def add(self, layer: Layer) -> None:
        self.layers.add(layer)

    def rows(self) -> pa.Table:
        return _old(self.table).totals(self.layers.whole)


class _Kept:
    def __init__(self, batch: Batch):
        self.batch, self.kept = batch, {}

    def add(self, layer: Layer) -> None:
        self.kept[layer.index] = layer.trace

    @cached_property
    def whole(self) -> Any:
        from analysis.models.trace import Trace
        from precompute.passes.batch import Batch as Whole

        given = {name: value for name, value in vars(self.batch).items() if name in _GIVEN}
        trace = Trace(tuple(self.kept.values()), self.batch.is_token, self.batch.word_embeddings)
        return Whole(trace=trace, **given)


_GIVEN = [
    "sequences",
    "seed",
    "hidden_dtype",
    "hidden_budget",
    "exemplars",
    "followed",
    "controlled",
    "gradients",
    "gate_rule",
    "relevance_start",
    "kept",
    "images",
    "classification",
]


def _old(table: Table) -> Any:
    (file,) = Path(__file__).parent.glob(f"*/{table.name}.py")
    return import_module(f"precompute.passes.{file.parent.name}.{file.stem}")


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
