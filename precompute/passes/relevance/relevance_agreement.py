"""Mean agreement of rules and methods, with intervals."""

from analysis.statistics.means import Means, both_ways
from analysis.statistics.relevance.relevance_agreement import TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_relevance_agreement",)
_PAIRS = """
    with pair as (
        select seq, rule_a, rule_b, spearman::double as mean
        from sequence_relevance_agreement
    )
    from pair
    union
    select seq, unnest([rule_a, rule_b]) as rule, rule, 1.0 from pair
    order by all
"""
fit = mean_over_sequences(
    TABLE, Means(_PAIRS, ["rule_a", "rule_b"], then=both_ways("rule_a", "rule_b"))
)
"""One row per ordered pair of rules or methods, each with itself too."""
