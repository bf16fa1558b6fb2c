"""Errors of scores and attention rebuilt from queries and keys, for the exemplars."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.query_key_error import ERRORS, query_key_error
from analysis.statistics.positions.query_key_error import TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 3


def totals(batch: Batch) -> pa.Table:
    """One row per exemplar and layer."""
    rows = [
        (sequence.index, index, *query_key_error(layer, batch.hidden_dtype).tolist())
        for sequence, layers in batch.exemplars_alone
        for index, layer in enumerate(layers)
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 2 + len(ERRORS)).T
    return table_of(
        TABLE,
        seq=columns[0].astype(np.int32),
        layer=columns[1].astype(np.uint8),
        **dict(zip(ERRORS, columns[2:], strict=True)),
    )
