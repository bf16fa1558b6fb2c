"""Mean similarity of the scopes, per layer and over the layers."""

from analysis.statistics.means import Means, both_ways, layers_and_mean
from analysis.statistics.mixing.scope_similarity import TABLE
from precompute.passes.base import mean_over_sequences

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
    union all
    select seq, scope, scope, 1.0
    from (select distinct seq from sequence_scope_similarity), (
        select distinct unnest([scope_a, scope_b]) as scope from sequence_scope_similarity
    )
"""
"""Similarity of pairs of scopes by sequence, and 1 for each scope with itself."""
fit = mean_over_sequences(
    TABLE,
    Means(
        _PAIRS,
        ["scope_a", "scope_b"],
        "spearman",
        per=layers_and_mean("sequence_scope_similarity"),
        then=both_ways("scope_a", "scope_b"),
    ),
)
"""One row per ordered pair of scopes, for every layer and for every sequence's mean of them."""
