"""Errors of the sum of each layer's parts, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.completeness import (
    attention_block_errors,
    attention_sum_error,
    worst_token,
)
from analysis.statistics.mixing.completeness import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and layer."""
    return pa.concat_tables(_of_layer(batch, index) for index in range(len(batch.trace.layers)))


def _of_layer(batch: Batch, index: int) -> pa.Table:
    layer, is_token = batch.trace.layers[index], batch.trace.is_token
    errors = attention_block_errors(layer, is_token, batch.hidden_dtype).cpu()
    worst = [
        worst_token(errors[row, : len(sequence)]) for row, sequence in enumerate(batch.sequences)
    ]
    error, worst_pos, percentile = zip(*worst, strict=True)
    return table_of(
        TABLE,
        seq=batch.sequence_of_row,
        layer=np.full(len(batch.sequences), index, dtype=np.uint8),
        relative_error=np.array(error),
        worst_pos=np.array(worst_pos),
        percentile_99=np.array(percentile),
        attention_sum_error=attention_sum_error(layer.attention, is_token).cpu().numpy(),
    )
