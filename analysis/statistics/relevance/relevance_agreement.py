"""Rank correlation between relevance rules and methods."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.relevance_rules import ALL
from analysis.statistics.columns import named, number, single
from analysis.statistics.means import Means, both_ways, mean_of
from analysis.statistics.question import asks, placed
from analysis.statistics.table import N_SEQUENCES, SEQUENCE, Table, interval

RULE_A = named("rule_a", "one rule or method by which relevance is carried back")
RULE_B = named("rule_b", "the rule or method it is compared with")
PER_SEQUENCE = Table(
    name="sequence_relevance_agreement",
    grain="one row per sequence and pair of rules or methods in whose maps there is something to "
    "rank",
    key=(SEQUENCE, RULE_A, RULE_B),
    values=(
        single(
            "spearman",
            "Spearman's ρ of the two maps over the tokens that are not special; relevance starts "
            "after the last layer, heads are averaged",
            "ρ",
        ),
    ),
    source="sawaki-2025",
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "rule_a <> rule_b"),
    order=("rule_a", "rule_b", "seq"),
    depends_on=(Setting.GATE_RULE, Setting.KEPT),
)
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
TABLE = Table(
    name="relevance_agreement",
    grain="one row per ordered pair of rules or methods, each with itself too",
    key=(RULE_A, RULE_B),
    values=(
        number("mean", "mean over sequences of Spearman's ρ of the two maps", "ρ"),
        *interval("ρ"),
        N_SEQUENCES,
    ),
    source="sawaki-2025",
    requires=("sequence_relevance_agreement",),
    made_by=mean_of(Means(_PAIRS, ["rule_a", "rule_b"], then=both_ways("rule_a", "rule_b"))),
    laws=(
        "mean between -1 - 1e-6 and 1 + 1e-6",
        "low <= high",
        "n_sequences > 0",
        "rule_a <> rule_b or mean = 1",
    ),
    depends_on=(),
)


@asks(f"""
    from relevance_agreement
    order by {placed(ALL, "rule_a")}, {placed(ALL, "rule_b")}
""")
def agreement(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every ordered pair: rule_a, rule_b, mean, low, high, n_sequences, in the order of `ALL`."""
    ...
