"""Waves of queries and keys and their cross-correlations, for a few sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.positions.query_key_rotation import NEGLIGIBLE
from analysis.measures.positions.query_key_wave import cross_correlation, query_key_waves
from analysis.models.trace import LayerTrace
from analysis.statistics.positions.query_key_wave import RANKS, REACH, SHOWN, TABLE
from analysis.statistics.rows import lists_of, table_of
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per exemplar, layer, head and direction."""
    parts = [
        _of_layer(sequence, index, layer)
        for sequence, layers in batch.exemplars_alone
        for index, layer in enumerate(layers)
        if layer.weights.compares_directions
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])


def _of_layer(sequence: Sequence, index: int, layer: LayerTrace) -> pa.Table:
    factors = layer.weights.query_key
    values = factors.values[:, :RANKS].cpu().numpy()
    waves = query_key_waves(layer.attention_input[0], factors)
    queries, keys = (wave[..., :RANKS] for wave in waves)
    middle = len(sequence) - 1
    first, last = max(middle - REACH, 0), 0 if layer.weights.is_causal else REACH
    correlations = cross_correlation(queries, keys)[:, first : middle + last + 1]
    correlations, queries, keys = (
        wave.mT.cpu().numpy() for wave in (correlations, queries[:, :SHOWN], keys[:, :SHOWN])
    )
    compares = (values > NEGLIGIBLE * values[:, :1]) & np.isfinite(correlations).all(axis=-1)
    head, rank = compares.nonzero()
    return table_of(
        TABLE,
        seq=np.full(len(head), sequence.index),
        layer=np.full(len(head), index),
        head=head,
        rank=rank + 1,
        value=values[compares],
        query=lists_of(queries[compares]),
        key=lists_of(keys[compares]),
        correlation=lists_of(correlations[compares]),
    )
