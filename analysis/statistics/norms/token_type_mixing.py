"""Attention weight, norm and weighted norm by type of attended token."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks
from analysis.statistics.table import (
    HEAD_OR_MEAN,
    LAYER,
    N_SEQUENCES,
    TOKEN_TYPE,
    Column,
    Table,
    View,
    interval,
)

_KEY = (LAYER, HEAD_OR_MEAN, TOKEN_TYPE)
QUANTITIES = {
    "attention": ("α summed over the tokens of the type, mean over queries", "share"),
    "value_norm": ("mean ‖f(x)‖ of the tokens of the type", "stream length"),
    "weighted_norm": (
        "‖αf(x)‖ summed over the tokens of the type, mean over queries",
        "stream length",
    ),
}
_MEANS = tuple(Column(name, pa.float64(), *rest) for name, rest in QUANTITIES.items())

_LONG_KEY = (*_KEY, text("quantity", ", ".join(QUANTITIES), "name"))
_INTERVALS = (
    number("mean", "unweighted mean over sequences", "share or stream length"),
    *interval("as the mean"),
    N_SEQUENCES,
    count("n_present", "sequences that have a token of the type", "sequences"),
)
TABLE = Table(
    name="token_type_mixing",
    grain="one row per layer, head (or their mean), token type and quantity",
    key=_LONG_KEY,
    values=_INTERVALS,
    source="kobayashi-2020",
    laws=(
        "mean >= 0",
        "low <= high",
        "quantity <> 'attention' or mean <= 1 + 1e-4",
        "n_present > 0 and n_present <= n_sequences",
    ),
    views=(
        View(
            "token_type_mixing",
            "one row per layer, head (or their mean) and token type; means over sequences",
            (*_KEY, *_MEANS, N_SEQUENCES),
            """
            select layer, head, token_type,
                max(mean) filter (quantity = 'attention') as attention,
                max(mean) filter (quantity = 'value_norm') as value_norm,
                max(mean) filter (quantity = 'weighted_norm') as weighted_norm,
                max(n_sequences) as n_sequences
            from stored.token_type_mixing
            group by layer, head, token_type
            """,
        ),
        View(
            "token_type_interval",
            "one row per layer, head (or their mean), token type and quantity, with its interval",
            (*_LONG_KEY, *_INTERVALS),
            "from stored.token_type_mixing",
        ),
    ),
    depends_on=(),
)


@asks("""
    select layer, token_type, quantity, mean, low, high, n_present
    from token_type_interval
    where head is not distinct from $head
    order by layer, token_type, quantity
""")
def by_layer(store: DuckDBPyConnection, *, head: int | None = None) -> pd.DataFrame:
    """Means by layer and type, of one head of every layer or of all its heads: layer, token_type,
    quantity, mean, low, high, n_present."""
    ...


@asks("""
    select layer, head, quantity, mean, low, high
    from token_type_interval
    where head is not null and token_type = $token_type
    order by layer, head, quantity
""")
def by_head(store: DuckDBPyConnection, *, token_type: str) -> pd.DataFrame:
    """Means of every head for one token type: layer, head, quantity, mean, low, high."""
    ...


@asks("""
    select token_type, quantity, mean, low, high
    from token_type_interval
    where layer = $layer and head = $head
    order by token_type, quantity
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """All types of one head: token_type, quantity, mean, low, high."""
    ...


@asks("""
    select head, sum(weighted_norm) as weighted_norm
    from token_type_mixing
    where layer = $layer and head is not null
    group by head
    order by head
""")
def by_layer_and_head(store: DuckDBPyConnection, *, layer: int) -> pd.DataFrame:
    """Weighted norms of all token types in sum, by head of a layer: head, weighted_norm."""
    ...
