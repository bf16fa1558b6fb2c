"""Attention to each place, by layer and head: means over sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.sinks import RATED, WEIGHTS
from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks, quoted
from analysis.statistics.sinks.places import PLACE
from analysis.statistics.sinks.sequence_sink import ROUNDING
from analysis.statistics.table import HEAD_OR_MEAN, LAYER, Table, interval

_UNIT = "share, stream length or ratio"
TABLE = Table(
    name="sink",
    grain="one row per layer, head (or their mean), place and quantity",
    key=(LAYER, HEAD_OR_MEAN, PLACE, text("quantity", ", ".join(WEIGHTS), "name")),
    values=(
        number("mean", "unweighted mean over the sequences that have it", _UNIT),
        *interval(_UNIT),
        count("n_sequences", "sequences that have it", "sequences"),
    ),
    source="gu-2025",
    laws=(
        "mean >= 0 and isfinite(mean)",
        "low <= high",
        f"quantity = 'neighbour' or quantity not in ({quoted(*RATED)}) or mean <= {1 + ROUNDING}",
        "n_sequences > 0",
    ),
    order=("head is not null", "place", "layer", "head", "quantity"),
    depends_on=(),
)


@asks("select distinct place from sink order by place")
def places(store: DuckDBPyConnection) -> pd.DataFrame:
    """The places that occur in the file: place."""
    ...


@asks("""
    select layer, place, quantity, mean, low, high, n_sequences
    from sink
    where head is null
    order by layer, place, quantity
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Means over the heads of each layer: layer, place, quantity, mean, low, high, n_sequences."""
    ...


@asks("""
    select layer, head, quantity, mean, low, high
    from sink
    where head is not null and place = $place
    order by layer, head, quantity
""")
def heads(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """Every head: layer, head, quantity, mean, low, high."""
    ...
