"""Attention of every head to each place of every sequence, with baselines."""

import pyarrow as pa

from analysis.measures.sinks.sequence_sink import sink_weights
from analysis.sinks import WEIGHTS
from analysis.statistics.sinks.sequence_sink import TABLE
from precompute.passes.batch import Batch
from precompute.passes.sinks.places import places_of
from precompute.passes.sinks.rows import rows_of_layer

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, head and place that the sequence has."""
    places, layers = places_of(batch), batch.trace.layers
    return pa.concat_tables(
        rows_of_layer(
            TABLE,
            batch,
            index,
            quantities=sink_weights(layer.attention, norms, batch.is_pair[index], places=places),
            names=WEIGHTS,
        )
        for index, (layer, norms) in enumerate(zip(layers, batch.value_norms, strict=True))
    )
