"""Rank correlation between relevance rules and methods: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.relevance_rules import ALL
from analysis.statistics.columns import number
from analysis.statistics.question import asks, placed
from analysis.statistics.relevance.sequence_relevance_agreement import RULE_A, RULE_B
from analysis.statistics.table import N_SEQUENCES, Table, interval

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
