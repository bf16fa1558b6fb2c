"""Decomposition of the score excess of each place's keys, in every sequence."""

import pyarrow as pa

from analysis.measures.sinks.sequence_sink_score import sink_scores
from analysis.sinks import SCORES
from analysis.statistics.sinks.sequence_sink_score import TABLE
from precompute.passes.batch import Batch
from precompute.passes.sinks.places import places_of
from precompute.passes.sinks.rows import rows_of_layer

VERSION = 1


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer, head and place that a query sees beside another token; none if
    scores have terms besides queries and keys."""
    places = places_of(batch)
    parts = [
        rows_of_layer(
            TABLE,
            batch,
            index,
            quantities=sink_scores(
                layer.attention_input, layer.weights, batch.is_pair[index], places=places
            ),
            names=SCORES,
        )
        for index, layer in enumerate(batch.trace.layers)
        if layer.weights.offset_terms is None
    ]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *parts])
