"""Singular values of every head's query-key form."""

import numpy as np
import pyarrow as pa

from analysis.models.trace import ModelWeights
from analysis.tables.positions.query_key_singular_value import TABLE
from precompute.passes.base import table_of

VERSION = 1


def weights(model: ModelWeights) -> pa.Table:
    """One row per layer, head and direction."""
    values = np.stack([layer.query_key.values.cpu().numpy() for layer in model.layers])
    layer, head, rank = np.indices(values.shape).reshape(3, -1)
    return table_of(TABLE, layer=layer, head=head, rank=rank + 1, value=values.ravel())
