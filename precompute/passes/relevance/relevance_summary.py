"""Summaries of relevance maps: means over sequences with intervals."""

from analysis.statistics.means import Means
from analysis.statistics.relevance.relevance_summary import GAINS, QUANTITIES, TABLE
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_relevance",)
_GAINS = ", ".join(f"{share} - mask_chance as {name}" for name, share in GAINS.items())
_LONG = f"""
    unpivot (
        select seq, layer, head, columns([{", ".join(map(repr, QUANTITIES))}])::double
        from (select *, {_GAINS} from sequence_relevance where rule = $rule)
    )
    on {", ".join(QUANTITIES)} into name quantity value mean
"""
_RULES = "select distinct rule from sequence_relevance order by all"
fit = mean_over_sequences(TABLE, Means(_LONG, ["layer", "head", "quantity"], per=_RULES))
"""One row per rule, layer, head (or their mean) and quantity that some sequence has."""
