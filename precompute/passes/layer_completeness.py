"""How nearly the parts of each whole layer add up, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.tables.layer_completeness import TABLE
from precompute.batch import Batch
from precompute.passes.base import table_of

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and layer."""
    errors = np.array([[layer.error for layer in layers] for layers in batch.layer_mixing])
    n_sequences, n_layers = errors.shape
    return table_of(
        TABLE,
        seq=batch.sequence_of_row.repeat(n_layers),
        layer=np.tile(np.arange(n_layers, dtype=np.uint8), n_sequences),
        relative_error=errors.ravel(),
    )
