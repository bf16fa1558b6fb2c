"""The relative position that each head prefers, in its attention and in its scores."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.head_offset import preferred_offsets
from analysis.tables.positions.head_offset import REACH, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 2
NEEDS = ("relative_position_profile", "query_key_correlation")
_MEANS = {
    "attention_offset": "attention",
    "score_offset": "value",
    "attention_offset_per_pair": "attention_per_pair",
    "score_offset_per_pair": "value_per_pair",
    "score_offset_centred": "value_centred",
}


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head."""
    heads = store.execute(
        """
        select layer, head, avg(dependence) as dependence
        from sequence_relative_position
        group by layer, head
        order by layer, head
        """
    ).df()
    means = store.execute(
        'from query_key_correlation_mean where abs("offset") <= $reach', {"reach": REACH}
    ).df()
    for name, quantity in _MEANS.items():
        wide = means.pivot(index=["layer", "head"], columns="offset", values=quantity)
        offsets = wide.columns.to_numpy().astype(np.int64)
        heads[name] = preferred_offsets(wide.sort_index().to_numpy(), offsets)
    return rows_of(TABLE, [heads])
