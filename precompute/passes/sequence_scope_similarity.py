"""Whether scopes see the same mixing, for every sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.sequence_scope_similarity import scope_similarities
from analysis.scopes import SCOPES
from analysis.tables.sequence_scope_similarity import TABLE
from precompute.passes.base import Batch, names_of, table_of

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per sequence, layer and pair of scopes in whose maps there is something to rank."""
    narrow, wide = np.triu_indices(len(SCOPES), k=1)
    spearman = np.array(
        [
            [scope_similarities(layer.maps.numpy())[narrow, wide] for layer in layers]
            for layers in batch.layer_mixing
        ]
    )
    row, layer, pair = np.nonzero(~np.isnan(spearman))
    return table_of(
        TABLE,
        seq=batch.sequence_of_row[row],
        layer=layer,
        scope_a=names_of(narrow[pair], SCOPES),
        scope_b=names_of(wide[pair], SCOPES),
        spearman=spearman[row, layer, pair],
    )
