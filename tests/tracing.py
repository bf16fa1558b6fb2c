"""Traces and rows of tiny models, layer by layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.models.reading import read_model
from analysis.models.stream import stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model
from analysis.statistics.base.tables import Table
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Sequence as Input
from precompute.models.loaded_model import Control, LoadedModel
from precompute.passes.filling import rows_of_batch
from precompute.passes.layers import Layer, batch_of, run_layers


def traced_layers(
    model: Model, inputs: dict[str, Tensor], layers: tuple[LayerWeights, ...] = ()
) -> tuple[LayerTrace, ...]:
    """Return all layers of a forward pass, with weights that are read now unless they are given."""
    traced: list[LayerTrace] = []
    reading = read_model(model)
    weights, given = layers or reading.layers, reading.inputs(inputs)
    stream_layers(model, reading.parts, weights, given, lambda _index, layer: traced.append(layer))
    return tuple(traced)


@dataclass(frozen=True)
class Trace:
    """One forward pass: its layers from the first to the last, and the mask of real tokens.

    `word_embeddings` are rows of the embedding table, before positions or other vectors are added.
    """

    layers: tuple[LayerTrace, ...]
    is_token: Bool[Tensor, "batch token"]
    word_embeddings: Float[Tensor, "batch token width"]


def trace_of(model: LoadedModel, sequences: Sequence[Input]) -> Trace:
    """Run one forward pass and keep all layers."""
    layers: list[LayerTrace] = []
    model.stream(sequences, lambda _index, layer: layers.append(layer))
    return Trace(tuple(layers), model.is_token(sequences), model.word_embeddings(sequences))


def controlled_layers(
    model: LoadedModel, sequence: Input, control: Control
) -> tuple[LayerTrace, ...]:
    """Return all layers of a sequence whose positions are removed or permuted."""
    layers: list[LayerTrace] = []
    model.stream_controlled(sequence, control, lambda _, layer: layers.append(layer), seed=0)
    return tuple(layers)


def rows_of_tables(
    tables: Iterable[Table], model: LoadedModel, sequences: Sequence[Input], **chosen: Any
) -> dict[str, pa.Table]:
    """Return the rows of several tables for one batch, by name, from one forward pass."""
    return rows_of_batch(tables, model, batch_of(model, sequences, **_run(model) | chosen))


def rows_of_table(
    table: Table, model: LoadedModel, sequences: Sequence[Input], **chosen: Any
) -> pa.Table:
    """Return the rows of a table for one batch."""
    return rows_of_tables([table], model, sequences, **chosen)[table.name]


def layers_of(model: LoadedModel, sequences: Sequence[Input], **chosen: Any) -> list[Layer]:
    """Return all layers of a batch, as passes get them."""
    layers: list[Layer] = []
    run_layers(model, batch_of(model, sequences, **_run(model) | chosen), layers.append)
    return layers


def _run(model: LoadedModel) -> dict[str, Any]:
    return {"controlled": partial(model.stream_controlled, seed=0)}


def table_of(table: Table, **columns: np.ndarray | pa.Array) -> pa.Table:
    """Return rows of a shard, from columns by name."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({name: arrays[name] for name in table.shard_schema.names}).cast(
        table.shard_schema
    )


def names_of(places: np.ndarray, names: tuple[str, ...] = TOKEN_TYPES) -> pa.DictionaryArray:
    """Return names in the store's type, from their indices in a list; by default the token
    types."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), pa.array(names))
