"""Rank correlation between relevance rules and methods, in every sequence."""

from analysis.needs import Setting
from analysis.statistics.columns import named, single
from analysis.statistics.table import SEQUENCE, Table

RULE_A = named("rule_a", "one rule or method by which relevance is carried back")
RULE_B = named("rule_b", "the rule or method it is compared with")
TABLE = Table(
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
