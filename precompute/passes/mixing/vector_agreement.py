"""Mean agreement of multiplied maps with vectors, per layer and over the layers."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.mixing.vector_agreement import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_vector_agreement",)
_SEQUENCES = """
    select seq, scope, avg(spearman::double) as spearman
    from sequence_vector_agreement
    where $layer is null or layer = $layer
    group by seq, scope
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per scope, for every layer and for every sequence's mean of them."""
    levels = store.execute(
        """
        select distinct unnest([layer, null]) as layer
        from sequence_vector_agreement
        order by layer nulls last
        """
    )
    frames = []
    for (layer,) in levels.fetchall():
        rows = store.execute(_SEQUENCES, {"layer": layer}).df()
        cells, sequences, values = by_sequence(rows, cell=["scope"], value="spearman")
        means = with_intervals(cells, values, context.redraws(sequences)).assign(layer=layer)
        frames.append(means.rename(columns={"mean": "spearman"}))
    return rows_of(TABLE, frames)
