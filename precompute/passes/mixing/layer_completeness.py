"""Errors of the sum of each whole layer's parts, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.completeness import worst_token
from analysis.statistics.mixing.layer_completeness import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and layer."""
    worst = [worst_token(layer.errors) for layers in batch.layer_mixing for layer in layers]
    error, worst_pos, percentile = zip(*worst, strict=True)
    n_sequences, n_layers = len(batch.sequences), len(batch.trace.layers)
    return table_of(
        TABLE,
        seq=batch.sequence_of_row.repeat(n_layers),
        layer=np.tile(np.arange(n_layers, dtype=np.uint8), n_sequences),
        relative_error=np.array(error),
        worst_pos=np.array(worst_pos),
        percentile_99=np.array(percentile),
    )
