"""Attention of each head by kind of token, and its entropy: means over sequences."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.habits import HABITS, QUANTITIES
from analysis.statistics.columns import count, number, text
from analysis.statistics.heads.sequence_head_pattern import HABIT_COLUMNS, MEANINGS, ROUNDING
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.question import asks, placed, quoted
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, Table, View, interval

_NAME = "head_pattern"
_LONG_KEY = (LAYER, HEAD_OR_MEAN, text("quantity", ", ".join(QUANTITIES), "name"))
_MEANS = (
    number("mean", "unweighted mean over the sequences that have it", "share or nats"),
    *interval("share or nats"),
    count("n_sequences", "sequences that have it", "sequences"),
)
_SHARES = quoted(*(name for name, (_, unit) in MEANINGS.items() if unit == "share"))
_WIDE = ", ".join(f"max(mean) filter (quantity = '{habit}') as \"{habit}\"" for habit in HABITS)
TABLE = Table(
    name=_NAME,
    grain="one row per weighing, layer, head (or their mean) and habit",
    key=(WEIGHING, *_LONG_KEY),
    values=_MEANS,
    source="clark-2019",
    laws=(
        "mean >= 0",
        "low <= high",
        f"quantity not in ({_SHARES}) or mean <= {1 + ROUNDING}",
        "n_sequences > 0",
    ),
    order=("weighing", "head is not null", "layer", "head", "quantity"),
    shown_as="head_pattern_weighing",
    views=(
        View(
            "head_pattern",
            "one row per layer and head; means over sequences",
            (LAYER, HEAD, *(replace(HABIT_COLUMNS[name], type=pa.float64()) for name in HABITS)),
            f"""
            select layer, head,
                {_WIDE}
            from stored.head_pattern
            where head is not null and weighing = 'weight'
            group by layer, head
            """,
        ),
        of_weights(
            "head_pattern_interval",
            "one row per layer, head (or their mean) and habit",
            (*_LONG_KEY, *_MEANS),
            table=_NAME,
        ),
    ),
    depends_on=(),
)


@asks(f"""
    select layer, quantity, mean, low, high
    from head_pattern_weighing
    where weighing = $weighing and head is null
    order by layer, {placed(QUANTITIES, "quantity")}
""")
def by_layer(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Means over the heads of each layer: layer, quantity, mean, low, high."""
    ...


@asks(f"""
    select layer, head, quantity, mean, low, high
    from head_pattern_weighing
    where weighing = $weighing and head is not null
    order by layer, head, {placed(QUANTITIES, "quantity")}
""")
def heads(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Every head: layer, head, quantity, mean, low, high."""
    ...


@asks(f"""
    select quantity, mean, low, high, n_sequences
    from head_pattern_weighing
    where weighing = $weighing and layer = $layer and head = $head
    order by {placed(QUANTITIES, "quantity")}
""")
def of_head(
    store: DuckDBPyConnection, *, layer: int, head: int, weighing: str = WEIGHT
) -> pd.DataFrame:
    """One head: quantity, mean, low, high, n_sequences."""
    ...
