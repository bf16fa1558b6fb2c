"""Difference of head habits by norms and by weights."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.habits import HABITS
from analysis.statistics.columns import count, number, text
from analysis.statistics.norms.weighing import difference
from analysis.statistics.question import asks, placed
from analysis.statistics.table import HEAD_OR_MEAN, LAYER, Table

_UNIT = "share or nats"


TABLE = Table(
    name="head_pattern_difference",
    grain="one row per layer, head (or their mean) and habit; the same sequences by weights and by "
    "norms",
    key=(LAYER, HEAD_OR_MEAN, text("quantity", ", ".join(HABITS), "name")),
    values=(
        number("weight", "mean over sequences by weights", _UNIT),
        number("norm", "mean over sequences by norms", _UNIT),
        *difference(_UNIT),
        count("n_sequences", "sequences that have it", "sequences"),
    ),
    source="kobayashi-2020",
    laws=(
        "weight >= 0 and norm >= 0",
        "abs(difference - (norm - weight)) < 1e-6",
        "low <= high",
        "n_sequences > 0",
    ),
    order=("head is not null", "layer", "head", "quantity"),
    depends_on=(),
)


@asks(f"""
    from head_pattern_difference
    where head is not null
    order by {placed(HABITS, "quantity")}, layer, head
""")
def differences(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every head, its habits in order: layer, head, quantity, weight, norm, difference, low, high,
    n_sequences."""
    ...
