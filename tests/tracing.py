"""Traces and rows of tiny models, layer by layer."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from torch import Tensor

from analysis.models.adapter import Adapter
from analysis.models.stream import stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model
from analysis.statistics.table import Table
from precompute.corpora.sequence import Sequence as Input
from precompute.models.classification import classification_of
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import begin
from precompute.passes.layers import Batch, Layer


def traced_layers(
    adapter: Adapter, model: Model, inputs: dict[str, Tensor], layers: tuple[LayerWeights, ...] = ()
) -> tuple[LayerTrace, ...]:
    """Return all layers of a forward pass, with weights that are read now unless they are given."""
    traced: list[LayerTrace] = []
    given: Mapping[str, Any] = adapter.model_inputs(inputs)
    weights = layers or adapter.weights(model)
    parts = adapter.parts(model)
    stream_layers(model, parts, weights, given, lambda _index, layer: traced.append(layer))
    return tuple(traced)


def batch_of(model: LoadedModel, sequences: Sequence[Input], **chosen: Any) -> Batch:
    """Return a batch as a run makes it, with what is chosen otherwise."""
    run = {
        "relevance_start": model.relevance_start,
        "controlled": partial(model.stream_controlled, seed=0),
        "gradients": model.gradients,
        "images": model.images,
        "classification": classification_of(model),
    }
    return Batch(
        tuple(sequences),
        layers=model.layers,
        is_token=model.is_token(sequences),
        word_embeddings=model.word_embeddings(sequences),
        **run | chosen,
    )


def rows_of_tables(
    tables: Iterable[Table], model: LoadedModel, sequences: Sequence[Input], **chosen: Any
) -> dict[str, pa.Table]:
    """Return the rows of several tables for one batch, by name, from one forward pass."""
    batch = batch_of(model, sequences, **chosen)
    fillings = {table.name: begin(table, batch) for table in tables}

    def add(index: int, trace: LayerTrace) -> None:
        layer = Layer(batch, index, trace)
        for filling in fillings.values():
            filling.add(layer)

    model.stream(sequences, add)
    return {name: filling.rows() for name, filling in fillings.items()}


def rows_of_table(
    table: Table, model: LoadedModel, sequences: Sequence[Input], **chosen: Any
) -> pa.Table:
    """Return the rows of a table for one batch."""
    return rows_of_tables([table], model, sequences, **chosen)[table.name]


def layers_of(model: LoadedModel, sequences: Sequence[Input], **chosen: Any) -> list[Layer]:
    """Return all layers of a batch, as passes get them."""
    batch = batch_of(model, sequences, **chosen)
    layers = model.trace(sequences).layers
    return [Layer(batch, index, layer) for index, layer in enumerate(layers)]
