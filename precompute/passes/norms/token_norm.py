"""The norm of each token as each layer reads it."""

import numpy as np
import pyarrow as pa

from analysis.measures.norms.token_norm import input_norms
from analysis.statistics.norms.token_norm import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per token and layer."""
    row, position = batch.real_tokens
    return pa.concat_tables(
        table_of(
            TABLE,
            seq=batch.sequence_of_row[row],
            pos=position,
            layer=np.full(len(row), index, dtype=np.uint8),
            input_norm=input_norms(layer.input)[batch.trace.is_token].cpu().numpy(),
        )
        for index, layer in enumerate(batch.trace.layers)
    )
