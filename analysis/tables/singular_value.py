"""By how much each head's transformation stretches and shrinks."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import HEAD, LAYER, Column, Table

TABLE = Table(
    name="singular_value",
    grain="one row per layer, head and rank; the values that are exactly 0 are left out",
    key=(LAYER, HEAD, Column("rank", pa.int32(), "place in descending order, from 1", "index")),
    values=(
        Column("value", pa.float64(), "singular value of f as a linear map on [x 1]", "ratio"),
    ),
    source="kobayashi-2020",
    laws=("value >= 0", "rank >= 1"),
)


def spectra(store: DuckDBPyConnection, *, heads: list[tuple[int, int]]) -> pd.DataFrame:
    """layer, head, rank, value of the given (layer, head) pairs."""
    return store.execute(
        """
        select layer, head, rank, value
        from singular_value
        where list_contains($heads, layer::int * 1000 + head)
        order by layer, head, rank
        """,
        {"heads": [layer * 1000 + head for layer, head in heads]},
    ).df()


def extremes(store: DuckDBPyConnection) -> pd.DataFrame:
    """layer, head, largest, smallest (of the values that can differ from 0), for every head."""
    return store.execute(
        """
        select layer, head, max(value) as largest, min(value) as smallest
        from singular_value
        group by layer, head
        order by layer, head
        """
    ).df()
