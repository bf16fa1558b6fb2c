"""Rank correlation between the mixing maps of scopes, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.mixing.sequence_scope_similarity import scope_similarities
from analysis.statistics.mixing.sequence_scope_similarity import TABLE
from analysis.statistics.rows import names_of, table_of
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer and pair of scopes whose maps are not constant."""
    scopes = batch.order.scopes
    narrow, wide = np.triu_indices(len(scopes), k=1)
    spearman = np.array(
        [
            [
                scope_similarities(layer.maps.numpy(), pairs)[narrow, wide]
                for layer, pairs in zip(layers, seen, strict=True)
            ]
            for layers, seen in zip(batch.layer_mixing, batch.pairs, strict=True)
        ]
    )
    row, layer, pair = np.nonzero(~np.isnan(spearman))
    return table_of(
        TABLE,
        seq=batch.sequence_of_row[row],
        layer=layer,
        scope_a=names_of(narrow[pair], scopes),
        scope_b=names_of(wide[pair], scopes),
        spearman=spearman[row, layer, pair],
    )
