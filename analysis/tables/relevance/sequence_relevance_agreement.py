"""Whether rules and methods find the same tokens relevant, in every sequence."""

import pyarrow as pa

from analysis.tables.table import NAME, SEQUENCE, Column, Table

RULE_A = Column("rule_a", NAME, "one rule or method by which relevance is carried back", "name")
RULE_B = Column("rule_b", NAME, "the rule or method it is compared with", "name")
TABLE = Table(
    name="sequence_relevance_agreement",
    grain="one row per sequence and pair of rules or methods in whose maps there is something to "
    "rank",
    key=(SEQUENCE, RULE_A, RULE_B),
    values=(
        Column(
            "spearman",
            pa.float32(),
            "Spearman's ρ of the two maps over the tokens that are not special; relevance starts "
            "behind the last layer, heads are averaged",
            "ρ",
        ),
    ),
    source="sawaki-2025",
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "rule_a <> rule_b"),
    order=("rule_a", "rule_b", "seq"),
)
