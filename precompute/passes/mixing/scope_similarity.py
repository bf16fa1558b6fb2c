"""Mean similarity of the scopes, per layer and over the layers."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.mixing.scope_similarity import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_scope_similarity",)
_PAIRS = """
    with pair as (
        select seq, scope_a, scope_b, avg(spearman::double) as spearman
        from sequence_scope_similarity
        where $layer is null or layer = $layer
        group by seq, scope_a, scope_b
    )
    from pair
    union
    select seq, unnest([scope_a, scope_b]) as scope, scope, 1.0 from pair
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per ordered pair of scopes, for every layer and for every sequence's mean of them."""
    levels = store.execute(
        """
        select distinct unnest([layer, null]) as layer
        from sequence_scope_similarity
        order by layer nulls last
        """
    )
    frames = []
    for (layer,) in levels.fetchall():
        rows = store.execute(_PAIRS, {"layer": layer}).df()
        cells, sequences, values = by_sequence(rows, cell=["scope_a", "scope_b"], value="spearman")
        similar = with_intervals(cells, values, context.redraws(sequences))
        similar = similar.assign(layer=layer).rename(columns={"mean": "spearman"})
        others = similar[similar["scope_a"] != similar["scope_b"]]
        turned = others.rename(columns={"scope_a": "scope_b", "scope_b": "scope_a"})
        frames += [similar, turned]
    return rows_of(TABLE, frames)
