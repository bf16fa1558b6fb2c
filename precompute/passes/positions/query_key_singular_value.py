"""Singular values of every head's query-key form."""

import numpy as np
import pyarrow as pa

from analysis.models.trace import ModelWeights
from analysis.statistics.positions.query_key_singular_value import TABLE
from analysis.statistics.rows import table_of

VERSION = 1


def weights(model: ModelWeights) -> pa.Table:
    """One row per layer, head and direction."""
    parts = [
        _rows(index, layer.query_key.values.cpu().numpy())
        for index, layer in enumerate(model.layers)
        if layer.compares_directions
    ]
    return pa.concat_tables([TABLE.schema.empty_table(), *parts])


def _rows(layer: int, values: np.ndarray) -> pa.Table:
    head, rank = np.indices(values.shape).reshape(2, -1)
    layers = np.full(values.size, layer)
    return table_of(TABLE, layer=layers, head=head, rank=rank + 1, value=values.ravel())
