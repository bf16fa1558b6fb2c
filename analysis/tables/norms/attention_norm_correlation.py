"""Whether tokens that get much weight have short vectors."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.tables.columns import count, number
from analysis.tables.question import asks
from analysis.tables.table import HEAD_OR_ALL, LAYER_OR_ALL, TOKEN_TYPE, Table

TABLE = Table(
    name="attention_norm_correlation",
    grain="one row per token type: for every head, for every layer, and pooled",
    key=(LAYER_OR_ALL, HEAD_OR_ALL, TOKEN_TYPE),
    values=(
        count("n", "pairs of an attending and an attended token", "pairs"),
        number(
            "spearman",
            "Spearman's ρ of α and ‖f(x)‖; NULL where ‖f(x)‖ hardly varies or tokens are too few",
            "ρ",
            nullable=True,
        ),
    ),
    source="kobayashi-2020",
    laws=("n > 0", "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9"),
)


@asks("""
    select token_type, n, spearman
    from attention_norm_correlation
    where layer is not distinct from $layer and head is not distinct from $head
    order by token_type
""")
def by_type(store: DuckDBPyConnection, *, layer: int | None, head: int | None) -> pd.DataFrame:
    """token_type, n, spearman: of one head, of one layer (head None), or pooled (both None)."""
    ...


@asks("""
    select layer, head, n, spearman
    from attention_norm_correlation
    where head is not null and token_type = $token_type
    order by layer, head
""")
def by_head(store: DuckDBPyConnection, *, token_type: str) -> pd.DataFrame:
    """layer, head, n, spearman of every head for one token type."""
    ...


@asks("""
    select layer, token_type, n, spearman
    from attention_norm_correlation
    where layer is not null and head is null
    order by layer, token_type
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """layer, token_type, n, spearman of every layer."""
    ...
