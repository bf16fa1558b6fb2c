"""Phases of the rotation from queries to keys of every head."""

import numpy as np
import pyarrow as pa

from analysis.models.trace import ModelWeights
from analysis.statistics.positions.query_key_rotation import TABLE
from analysis.statistics.rows import table_of

VERSION = 1


def weights(model: ModelWeights) -> pa.Table:
    """One row per layer, head and eigenvector."""
    parts = [
        table_of(
            TABLE,
            layer=np.full(len(rotation.phases), layer),
            head=np.full(len(rotation.phases), head),
            plane=np.arange(len(rotation.phases)),
            phase=rotation.phases.cpu().numpy(),
        )
        for layer, of_layer in enumerate(model.layers)
        if of_layer.compares_directions
        for head, rotation in enumerate(of_layer.query_key_rotation)
    ]
    return pa.concat_tables([TABLE.schema.empty_table(), *parts])
