"""The share of heads that give more than a threshold to a place."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.sinks import RATED
from analysis.statistics.columns import number, text
from analysis.statistics.question import asks
from analysis.statistics.sinks.places import PLACE
from analysis.statistics.table import LAYER_OR_ALL, N_SEQUENCES, Table, interval

TABLE = Table(
    name="sink_rate",
    grain="one row per place, layer (or all), quantity and threshold",
    key=(
        PLACE,
        LAYER_OR_ALL,
        text("quantity", ", ".join(RATED), "name"),
        number("threshold", "above which a head counts, in one sequence"),
    ),
    values=(
        number("mean", "share of heads above the threshold, mean over sequences"),
        *interval("share"),
        N_SEQUENCES,
    ),
    source="gu-2025",
    laws=("mean between 0 and 1", "low <= high", "threshold > 0", "n_sequences > 0"),
    order=("place", "layer is not null", "layer", "quantity", "threshold"),
    depends_on=(),
)


@asks("""
    select layer, quantity, mean, low, high, n_sequences
    from sink_rate
    where place = $place and abs(threshold - $threshold) < 1e-6
    order by layer nulls last, quantity
""")
def rates(store: DuckDBPyConnection, *, place: str, threshold: float) -> pd.DataFrame:
    """Every layer, then all of them: layer (missing for all), quantity, mean, low, high,
    n_sequences."""
    ...


@asks("""
    select quantity, threshold, mean, low, high
    from sink_rate
    where place = $place and layer is null
    order by quantity, threshold
""")
def over_thresholds(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """All layers together: quantity, threshold, mean, low, high."""
    ...
