"""Counts of pairs by the size of their weight and their norm."""

import numpy as np
import pyarrow as pa

from analysis.measures.norms.attention_norm_histogram import joint_histogram
from analysis.statistics.norms.attention_norm_histogram import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per layer and occupied cell."""
    tables = []
    for index, (layer, norms) in enumerate(zip(batch.trace.layers, batch.value_norms, strict=True)):
        cells, counts = joint_histogram(
            layer.attention, norms, batch.token_types, batch.is_pair[index]
        )
        head, token_type, attention_bin, norm_bin = cells.cpu().numpy().T
        tables.append(
            table_of(
                TABLE,
                layer=np.full(len(head), index, dtype=np.uint8),
                head=head,
                token_type=names_of(token_type),
                attention_bin=attention_bin,
                norm_bin=norm_bin,
                n=counts.cpu().numpy(),
            )
        )
    return pa.concat_tables(tables)
