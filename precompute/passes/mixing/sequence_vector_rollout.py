"""Vector rollout by type and distance of input tokens, for followed sequences."""

import pyarrow as pa

from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.mixing.sequence_vector_rollout import TABLE, VECTORS
from precompute.passes.batch import Batch
from precompute.passes.mixing.sequence_rollout import origins

VERSION = 1
NEEDS = ("vector_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per followed sequence, layer, and token type and distance that the sequence has."""
    rows = (
        table
        for row, layers in batch.vectors
        for table in origins(
            TABLE,
            batch.sequences[row],
            batch.reached[row],
            scopes=(VECTORS,),
            products=(row_shares(layer.map.numpy())[None] for layer in layers),
        )
    )
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])
