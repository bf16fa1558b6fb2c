"""Distances between the attention of any two heads, added up over sequences."""

import numpy as np
import pyarrow as pa
import torch

from analysis.measures.heads.head_distance import head_distances
from analysis.statistics.heads.head_distance import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.rows import one_name, table_of
from precompute.passes.batch import Batch

VERSION = 2


def totals(batch: Batch) -> pa.Table:
    """One row per weighing and two heads, and per head with itself."""
    return pa.concat_tables(_weighed(batch, weighing) for weighing in WEIGHINGS)


def _weighed(batch: Batch, weighing: str) -> pa.Table:
    rows = range(len(batch.sequences))
    total = sum(_of_sequence(batch, row, weighing) for row in rows)
    divergence = np.asarray(total)
    one, other = np.triu_indices(len(divergence))
    width = batch.trace.layers[0].attention.shape[1]
    return table_of(
        TABLE,
        weighing=one_name(weighing, WEIGHINGS, len(one)),
        layer_a=one // width,
        head_a=one % width,
        layer_b=other // width,
        head_b=other % width,
        divergence=divergence[one, other],
        n_rows=np.full(len(one), sum(map(len, batch.sequences))),
    )


def _of_sequence(batch: Batch, row: int, weighing: str) -> np.ndarray:
    every_head = batch.every_head(row, weighing)
    seen = np.any(batch.pairs[row], axis=0)  # in any layer: heads of two layers are compared too
    return head_distances(every_head, torch.from_numpy(seen).to(every_head.device))
