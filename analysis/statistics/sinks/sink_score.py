"""Decomposition of the score excess of a place's keys: in every sequence, and in the mean."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.sinks import SCORES
from analysis.statistics.columns import count, number, single, text
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import PLACE, of_heads_and_layers
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, SEQUENCE, Table, interval

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
PER_SEQUENCE = Table(
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
TABLE = Table(
    name="sink_score",
    grain="one row per layer, head (or their mean), place and part of the score",
    key=(LAYER, HEAD_OR_MEAN, PLACE, text("quantity", ", ".join(SCORES), "name")),
    values=(
        number("mean", "unweighted mean over the sequences that have it", "nats"),
        *interval("nats"),
        count("n_sequences", "sequences that have it", "sequences"),
    ),
    source="gu-2025",
    laws=("isfinite(mean)", "low <= high", "n_sequences > 0"),
    order=("head is not null", "place", "layer", "head", "quantity"),
    depends_on=(),
    requires=("sequence_sink_score",),
    made_by=of_heads_and_layers("sequence_sink_score", SCORES),
)


@asks("""
    select layer, quantity, mean, low, high, n_sequences
    from sink_score
    where head is null and place = $place
    order by layer, quantity
""")
def by_layer(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """Means over the heads of each layer: layer, quantity, mean, low, high, n_sequences."""
    ...


@asks("""
    select layer, head, quantity, mean, low, high
    from sink_score
    where head is not null and place = $place
    order by layer, head, quantity
""")
def heads(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """Every head: layer, head, quantity, mean, low, high."""
    ...
