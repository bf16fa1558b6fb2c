"""Mean agreement of rules and methods, with intervals."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.relevance.relevance_agreement import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_relevance_agreement",)
_PAIRS = """
    with pair as (
        select seq, rule_a, rule_b, spearman::double as spearman
        from sequence_relevance_agreement
    )
    from pair
    union
    select seq, unnest([rule_a, rule_b]) as rule, rule, 1.0 from pair
    order by all
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per ordered pair of rules or methods, each with itself too."""
    rows = store.sql(_PAIRS).df()
    if rows.empty:
        return rows_of(TABLE, [])
    cells, sequences, values = by_sequence(rows, cell=["rule_a", "rule_b"], value="spearman")
    means = with_intervals(cells, values, context.redraws(sequences))
    others = means[means["rule_a"] != means["rule_b"]]
    turned = others.rename(columns={"rule_a": "rule_b", "rule_b": "rule_a"})
    return rows_of(TABLE, [means, turned])
