"""Decomposition of the score excess of a place's keys: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.sinks import SCORES
from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import PLACE
from analysis.statistics.table import HEAD_OR_MEAN, LAYER, Table, interval

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
