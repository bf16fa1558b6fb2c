"""Layers of the tiny models with other weights, such as rotary positions, and rows of tables."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pandas as pd
import torch

from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights
from analysis.statistics.base.tables import Table
from precompute.corpora.sequence import Sequence as Input
from precompute.jobs.shards import as_stored, merged
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import begin
from precompute.passes.layers import Layer
from tests.tracing import layers_of

THETA = 0.7
Change = Callable[[LayerWeights], LayerWeights]


def changed_layers(
    model: LoadedModel, sequences: Sequence[Input], change: Change, **chosen: Any
) -> list[Layer]:
    """The layers of a batch with other weights; what they computed stays."""
    layers = layers_of(model, sequences, **chosen)
    weights = tuple(change(layer.weights) for layer in layers)
    batch = replace(layers[0].batch, model=replace(model, layers=weights), _shared={})
    return [
        Layer(batch, layer.index, replace(layer.trace, weights=of_layer))
        for layer, of_layer in zip(layers, weights, strict=True)
    ]


def stored(table: Table, layers: Sequence[Layer]) -> pd.DataFrame:
    """The rows of a table for a batch, merged, in the order of its key."""
    filling = begin(table, layers[0].batch)
    for layer in layers:
        filling.add(layer)
    frame = as_stored(table, merged(table, [filling.rows()])).to_pandas()
    return frame.sort_values([column.name for column in table.key], ignore_index=True)


def turning(weights: LayerWeights, *, planes: int = 2, scaling: float = 1.0, **other: Any) -> Any:
    """The same layer with rotary positions in so many planes of each head."""
    frequencies = THETA ** torch.arange(1, planes + 1, dtype=torch.float64)
    return replace(weights, rotary=Rotary(frequencies, scaling), **other)


def public(table: Table, rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one of a table's views, from stored rows."""
    [sql] = [view.sql for view in table.all_views if view.name == name]
    with duckdb.connect() as store:
        store.execute("create schema stored")
        store.execute(f"create table stored.{table.name} as from rows")
        return store.sql(f"from ({sql}) order by all").df()
