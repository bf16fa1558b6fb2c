"""Rank correlation between the mixing maps of two scopes, by sequence."""

from dataclasses import replace

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.statistics.columns import single
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, SCOPE, SEQUENCE, Column, Table

SCOPE_A = replace(SCOPE, name="scope_a")
SCOPE_B = Column("scope_b", SCOPE.type, "the scope it is compared with", "name")
TABLE = Table(
    name="sequence_scope_similarity",
    grain="one row per sequence, layer and two scopes, the narrower first",
    key=(SEQUENCE, LAYER, SCOPE_A, SCOPE_B),
    values=(
        single(
            "spearman",
            "Spearman's ρ of the sequence's two maps, every pair of tokens counting once",
            "ρ",
        ),
    ),
    source="kobayashi-2024",
    laws=("spearman between -1 and 1", "scope_a <> scope_b"),
    order=("layer", "scope_a", "scope_b", "seq"),
    depends_on=(Setting.GATE_RULE,),
)


@asks("""
    select seq, avg(spearman::double) as spearman, n_tokens, text
    from sequence_scope_similarity
    join sequence using (seq)
    where ($layer is null or layer = $layer)
        and ((scope_a = $scope_a and scope_b = $scope_b)
            or (scope_a = $scope_b and scope_b = $scope_a))
    group by seq, n_tokens, text
    order by spearman, seq
    limit $limit
""")
def extremes(
    store: DuckDBPyConnection, *, layer: int | None, scope_a: str, scope_b: str, limit: int
) -> pd.DataFrame:
    """The sequences with the least agreement of two scopes, in either order.

    Args:
        layer: None takes the mean over the layers.

    Returns:
        seq, spearman, n_tokens, text, least similar first.
    """
    ...
