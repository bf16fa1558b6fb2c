"""Maps of relevance, share of each input token in the output of a layer, and agreement of rules."""

from analysis.needs import Need, Setting
from analysis.statistics.columns import named, number, single, singles
from analysis.statistics.corpus import HAS_SINK_LOGITS
from analysis.statistics.means import Means, both_ways, mean_of
from analysis.statistics.table import (
    HEAD,
    LAYER,
    N_SEQUENCES,
    SEQUENCE,
    Column,
    Table,
    interval,
    nullable,
)

RULE = named("rule", "rule or method by which relevance is carried back")
START_LAYER = Column("layer", LAYER.type, "layer after which relevance starts, from 1", "index")
HEAD_OR_MEAN = nullable(
    HEAD,
    "head, counted from 1, the same in every layer; NULL: mean of the heads, or of no single head",
)
ROUNDING = 0.02
"""Largest deviation from 1 of a row of attention in bfloat16."""
TABLE = Table(
    name="relevance_map",
    grain="one row per kept sequence, rule, layer and head (or their mean)",
    key=(SEQUENCE, RULE, START_LAYER, HEAD_OR_MEAN),
    values=(
        singles(
            "relevance",
            "relevance of every token of the input, special ones included; 1 in sum, of attention "
            "less what goes to no token",
        ),
    ),
    source="sawaki-2025",
    needs=(Need.EVERY_LAYER,),
    laws=(
        "list_min(relevance) >= 0",
        f"abs(list_sum(relevance) - 1) <= if(rule = 'attention', {ROUNDING}, 1e-4) "
        f"or rule = 'attention' and list_sum(relevance) < 1 and {HAS_SINK_LOGITS}",
    ),
    order=("seq", "rule", "layer", "head"),
    depends_on=(Setting.KEPT,),
)


RULE_A = named("rule_a", "one rule or method by which relevance is carried back")
RULE_B = named("rule_b", "the rule or method it is compared with")
SEQUENCE_AGREEMENT = Table(
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
    needs=(Need.EVERY_LAYER,),
    laws=("spearman between -1 - 1e-6 and 1 + 1e-6", "rule_a <> rule_b"),
    order=("rule_a", "rule_b", "seq"),
    depends_on=(Setting.KEPT,),
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
AGREEMENT = Table(
    name="relevance_agreement",
    grain="one row per ordered pair of rules or methods, each with itself too",
    key=(RULE_A, RULE_B),
    values=(
        number("mean", "mean over sequences of Spearman's ρ of the two maps", "ρ"),
        *interval("ρ"),
        N_SEQUENCES,
    ),
    source="sawaki-2025",
    needs=(Need.EVERY_LAYER,),
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
