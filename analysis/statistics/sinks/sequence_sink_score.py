"""Decomposition of the score excess of each place's keys, in every sequence."""

from analysis.needs import Need
from analysis.statistics.columns import single
from analysis.statistics.sinks.places import PLACE
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

MEANINGS = {
    "excess": "mean score of a query with the keys of the place minus that with the other keys it "
    "sees, mean over queries",
    "norm": "the part of the excess for which these keys' lengths differ from the others'",
    "direction": "the part for which their directions differ, seen from the query",
    "bias": "the part for which the key bias lies otherwise after it is turned; NULL where there "
    "is none, or where it is the same for all keys",
    "query_bias": "how much of the excess the query's bias alone would make; NULL without one",
}
_MAY_LACK = ("bias", "query_bias")
TABLE = Table(
    name="sequence_sink_score",
    grain="one row per sequence, layer, head and place that a query sees beside other tokens",
    key=(SEQUENCE, LAYER, HEAD, PLACE),
    values=tuple(
        single(name, meaning, "nats", nullable=name in _MAY_LACK)
        for name, meaning in MEANINGS.items()
    ),
    needs=(Need.OWN_SCORES,),
    source="gu-2025",
    laws=(
        "isfinite(excess) and isfinite(norm) and isfinite(direction)",
        "abs(excess - norm - direction - coalesce(bias, 0)) "
        "<= 1e-3 * (1 + abs(norm) + abs(direction) + abs(coalesce(bias, 0)))",
    ),
    order=("place", "layer", "head", "seq"),
    depends_on=(),
)
