"""Rank correlation between the mixing maps of any two scopes."""

from dataclasses import replace

from analysis.statistics.columns import number, single
from analysis.statistics.means import Means, both_ways, layers_and_mean, mean_of
from analysis.statistics.table import (
    LAYER,
    LAYER_OR_MEAN,
    N_SEQUENCES,
    SCOPE,
    SEQUENCE,
    Column,
    Table,
    View,
    interval,
)

SCOPE_A = replace(SCOPE, name="scope_a")
SCOPE_B = Column("scope_b", SCOPE.type, "the scope it is compared with", "name")
PER_SEQUENCE = Table(
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
    requires=("layer_completeness",),
    laws=("spearman between -1 and 1", "scope_a <> scope_b"),
    order=("layer", "scope_a", "scope_b", "seq"),
    depends_on=(),
)
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
_KEY = (LAYER_OR_MEAN, SCOPE_A, SCOPE_B)
_SPEARMAN = number("spearman", "mean over sequences of Spearman's ρ of the two maps", "ρ")
TABLE = Table(
    name="scope_similarity",
    grain="one row per layer, or for their mean, and ordered pair of scopes, with its interval",
    key=_KEY,
    values=(_SPEARMAN, *interval("ρ"), N_SEQUENCES),
    source="kobayashi-2024",
    requires=("sequence_scope_similarity",),
    made_by=mean_of(
        Means(
            _PAIRS,
            ["scope_a", "scope_b"],
            "spearman",
            per=layers_and_mean("sequence_scope_similarity"),
            then=both_ways("scope_a", "scope_b"),
        )
    ),
    laws=(
        "spearman between -1 - 1e-9 and 1 + 1e-9",
        "low <= high",
        "n_sequences > 0",
        "scope_a <> scope_b or spearman = 1",
    ),
    shown_as="scope_similarity_interval",
    views=(
        View(
            "scope_similarity",
            "one row per layer, or for their mean, and ordered pair of scopes",
            (*_KEY, _SPEARMAN, N_SEQUENCES),
            "select layer, scope_a, scope_b, spearman, n_sequences from stored.scope_similarity",
        ),
    ),
    depends_on=(),
)
