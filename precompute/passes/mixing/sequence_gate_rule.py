"""Agreement of two attribution rules for gated networks, in compared sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.sequence_gate_rule import closed_share
from analysis.measures.mixing.sequence_scope_similarity import scope_similarities
from analysis.statistics.mixing.sequence_gate_rule import TABLE
from analysis.statistics.rows import nulls_where, table_of
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per compared sequence and layer."""
    if batch.trace.layers[0].weights.feed_forward.gate_weight is None:
        return TABLE.shard_schema.empty_table()
    rows = [_of_sequence(batch, row, layers, rules) for row, layers, rules in batch.gate_rules]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of_sequence(batch: Batch, row: int, layers: tuple, rules: tuple) -> pa.Table:
    after = batch.order.scopes.index(batch.order.network)
    maps = [
        np.stack([mixing.maps[after].numpy() for mixing in by_rule])
        for by_rule in zip(*rules, strict=True)
    ]
    compared = zip(maps, batch.pairs[row], strict=True)
    return table_of(
        TABLE,
        seq=np.full(len(layers), batch.sequences[row].index),
        layer=np.arange(len(layers)),
        spearman=nulls_where(
            np.array([scope_similarities(*of_layer)[0, 1] for of_layer in compared])
        ),
        closed=np.array([closed_share(layer) for layer in layers]),
    )
