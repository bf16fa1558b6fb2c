"""Similarity and mixing ratio after the network under each reading, for compared sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.sequence_scope_similarity import scope_similarities
from analysis.scopes import BIAS_READINGS
from analysis.statistics.mixing.sequence_bias_reading import TABLE
from analysis.statistics.rows import names_of, nulls_where, table_of
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per compared sequence, layer and reading."""
    rows = [_of_sequence(batch, row, readings) for row, readings in batch.bias_readings]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of_sequence(batch: Batch, row: int, readings: dict) -> pa.Table:
    order = batch.order
    steps = [order.scopes.index(scope) for scope in order.effects["ff"]]
    by_reading = [(place, layers) for place, layers in enumerate(readings.values())]
    every = [(place, index, mixing) for place, of in by_reading for index, mixing in enumerate(of)]
    return table_of(
        TABLE,
        seq=np.full(len(every), batch.sequences[row].index),
        layer=np.array([index for _, index, _ in every]),
        reading=names_of(np.array([place for place, _, _ in every]), BIAS_READINGS),
        similarity=nulls_where(
            np.array(
                [
                    scope_similarities(mixing.maps[steps].numpy(), batch.pairs[row][index])[0, 1]
                    for _, index, mixing in every
                ]
            )
        ),
        mixing_ratio=np.array([mixing.ratios[steps[1]].mean().item() for _, _, mixing in every]),
        relative_error=np.array([mixing.errors.max().item() for _, _, mixing in every]),
    )
