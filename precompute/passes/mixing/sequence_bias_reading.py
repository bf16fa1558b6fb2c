"""Similarity and mixing ratio after the network under each reading, for compared sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.sequence_scope_similarity import scope_similarities
from analysis.scopes import BIAS_READINGS
from analysis.tables.mixing.sequence_bias_reading import TABLE
from precompute.passes.base import names_of, nulls_where, table_of
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per compared sequence, layer and reading."""
    rows = [_of_sequence(batch, row, readings) for row, readings in batch.bias_readings]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of_sequence(batch: Batch, row: int, readings: dict) -> pa.Table:
    order = batch.order
    steps = [order.scopes.index(each) for each in order.effects["ff"]]
    found = [(place, layers) for place, layers in enumerate(readings.values())]
    every = [(place, index, each) for place, of in found for index, each in enumerate(of)]
    return table_of(
        TABLE,
        seq=np.full(len(every), batch.sequences[row].index),
        layer=np.array([index for _, index, _ in every]),
        reading=names_of(np.array([place for place, _, _ in every]), BIAS_READINGS),
        similarity=nulls_where(
            np.array(
                [
                    scope_similarities(each.maps[steps].numpy(), batch.pairs[row][index])[0, 1]
                    for _, index, each in every
                ]
            )
        ),
        mixing_ratio=np.array([each.ratios[steps[1]].mean().item() for _, _, each in every]),
        relative_error=np.array([each.errors.max().item() for _, _, each in every]),
    )
