"""Rank correlation between rollout by products of maps and by vectors, for followed sequences."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.sequence_scope_similarity import scope_similarities
from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.mixing.sequence_rollout import ATTENTION_ROLLOUT
from analysis.statistics.mixing.sequence_vector_agreement import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch
from precompute.passes.mixing.sequence_rollout import rollouts

VERSION = 1
NEEDS = ("vector_completeness", "layer_completeness")


def totals(batch: Batch) -> pa.Table:
    """One row per followed sequence, layer and scope whose shares are not constant."""
    rows = [_of_sequence(batch, row) for row, _ in batch.vectors]
    return pa.concat_tables([TABLE.shard_schema.empty_table(), *rows])


def _of_sequence(batch: Batch, row: int) -> pa.Table:
    vectors = dict(batch.vectors)[row]
    spearman = np.array(
        [
            scope_similarities(np.stack([row_shares(layer.map.numpy()), *product]), reached)[0, 1:]
            for layer, product, reached in zip(
                vectors, rollouts(batch.layer_mixing[row]), batch.reached[row], strict=True
            )
        ]
    )
    layer, scope = np.nonzero(~np.isnan(spearman))
    return table_of(
        TABLE,
        seq=np.full(len(layer), batch.sequences[row].index),
        layer=layer,
        scope=names_of(scope, (*batch.order.scopes, ATTENTION_ROLLOUT)),
        spearman=spearman[layer, scope],
    )
