"""Errors of the sum of every token's vectors, for followed sequences."""

import numpy as np
import pyarrow as pa

from analysis.statistics.mixing.vector_completeness import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per followed sequence and layer."""
    rows = [
        table_of(
            TABLE,
            seq=np.full(len(layers), batch.sequences[row].index),
            layer=np.arange(len(layers), dtype=np.uint8),
            relative_error=np.array([layer.error for layer in layers]),
            bias_share=np.array([layer.bias_share for layer in layers]),
        )
        for row, layers in batch.vectors
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])
