"""Rank correlation between attention weights and norms of transformed vectors."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.agreement import BY_RANK
from analysis.statistics.columns import count, number
from analysis.statistics.parts import OF_PAIRS, part_columns, part_laws
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD_OR_ALL, LAYER_OR_ALL, TOKEN_TYPE, Table, interval

_RANK = "mean rank among all pairs of the type in the file, 0 the smallest and 1 the largest"

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
        *part_columns(OF_PAIRS),
        number("attention_rank", f"{_RANK}: of α", "rank"),
        number("norm_rank", f"{_RANK}: of ‖f(x)‖", "rank"),
        number("median", "median of the heads' own ρ; NULL where none has one", "ρ", nullable=True),
        *interval("ρ", of="median"),
    ),
    source="kobayashi-2020",
    declared=BY_RANK,
    laws=(
        "n > 0",
        "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9",
        *part_laws(OF_PAIRS),
        "attention_rank between 0 and 1 and norm_rank between 0 and 1",
    ),
    depends_on=(),
)


@asks("""
    select * exclude (layer, head)
    from attention_norm_correlation
    where layer is not distinct from $layer and head is not distinct from $head
    order by token_type
""")
def by_type(store: DuckDBPyConnection, *, layer: int | None, head: int | None) -> pd.DataFrame:
    """Rows of one head, of one layer (head is None), or of all pooled (both None)."""
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
    select token_type, count(*) as n_heads, count(spearman) as n_ranked,
        count(*) filter (spearman < 0) as n_below
    from attention_norm_correlation
    where head is not null and ($layer is null or layer = $layer)
    group by token_type
    order by token_type
""")
def signs(store: DuckDBPyConnection, *, layer: int | None) -> pd.DataFrame:
    """Numbers of heads, of heads with a ρ, and of heads with ρ < 0, in one layer or in all:
    token_type, n_heads, n_ranked, n_below."""
    ...


@asks("""
    from attention_norm_correlation
    where layer is not null and head is null
    order by layer, token_type
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """The row of every layer and token type."""
    ...


@asks("""
    select layer, head, token_type, attention_rank, norm_rank
    from attention_norm_correlation
    where layer is not null and ($layer is null or (layer = $layer and head is not null))
    order by layer, head nulls first, token_type
""")
def mean_ranks(store: DuckDBPyConnection, *, layer: int | None) -> pd.DataFrame:
    """Mean ranks of the pairs, by layer (head is NULL) and by head, or for the heads of one layer:
    layer, head, token_type, attention_rank, norm_rank."""
    ...
