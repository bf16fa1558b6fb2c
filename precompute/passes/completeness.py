"""How nearly the parts of each layer add up, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.completeness import attention_block_error, attention_sum_error
from analysis.tables.completeness import TABLE
from precompute.batch import Batch
from precompute.passes.base import table_of

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and layer."""
    is_token = batch.trace.is_token
    return pa.concat_tables(
        table_of(
            TABLE,
            seq=batch.sequence_of_row,
            layer=np.full(len(batch.sequences), index, dtype=np.uint8),
            relative_error=attention_block_error(layer, is_token).cpu().numpy(),
            attention_sum_error=attention_sum_error(layer.attention, is_token).cpu().numpy(),
        )
        for index, layer in enumerate(batch.trace.layers)
    )
