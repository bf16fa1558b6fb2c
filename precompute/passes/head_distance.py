"""How differently any two heads attend, added up over sequences."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.head_distance import head_distances
from analysis.tables.head_distance import TABLE
from precompute.batch import Batch
from precompute.passes.base import table_of

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per two heads, and per head with itself."""
    found = sum(_of_sequence(batch, row) for row in range(len(batch.sequences)))
    divergence = np.asarray(found)
    one, other = np.triu_indices(len(divergence))
    width = batch.trace.layers[0].attention.shape[1]
    return table_of(
        TABLE,
        layer_a=one // width,
        head_a=one % width,
        layer_b=other // width,
        head_b=other % width,
        divergence=divergence[one, other],
        n_rows=np.full(len(one), sum(map(len, batch.sequences))),
    )


def _of_sequence(batch: Batch, row: int) -> np.ndarray:
    layers, real = batch.trace.layers, slice(len(batch.sequences[row]))
    every_head = torch.cat([each.attention[row, :, real, real] for each in layers])
    seen = layers[0].weights.pairs(every_head.shape[-1]).to(every_head.device)
    return head_distances(every_head, seen)
