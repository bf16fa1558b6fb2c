"""Likeliest classes of each sequence, for models that predict classes."""

import numpy as np
import pyarrow as pa

from analysis.statistics.relevance.class_prediction import RANKS, TABLE
from analysis.statistics.rows import table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence and class, for the likeliest classes."""
    if batch.classification is None:
        return TABLE.shard_schema.empty_table()
    probabilities = batch.classification.probabilities(batch.sequences).cpu()
    n_ranks = min(RANKS, probabilities.shape[1])
    best = probabilities.sort(dim=1, descending=True, stable=True)
    labels = pa.array(batch.classification.labels, type=pa.string())
    return table_of(
        TABLE,
        seq=batch.sequence_of_row.repeat(n_ranks),
        rank=np.tile(np.arange(1, n_ranks + 1), len(batch.sequences)),
        label=labels.take(pa.array(best.indices[:, :n_ranks].flatten().numpy())),
        probability=best.values[:, :n_ranks].flatten().numpy(),
    )
