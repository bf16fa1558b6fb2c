"""In how few dimensions the learned position embeddings lie."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import Column, Table

TABLE = Table(
    name="position_variance",
    grain="one row per principal component; none if the model learns no position embeddings",
    key=(Column("component", pa.int32(), "principal component, from 1", "index"),),
    values=(
        Column("ratio", pa.float64(), "share of the variance over positions", "share"),
        Column("cumulative", pa.float64(), "share of this component and all before it", "share"),
    ),
    source="yamamoto-2023",
    laws=("component >= 1", "ratio between 0 and 1", "cumulative between ratio and 1 + 1e-9"),
)


def cumulative(store: DuckDBPyConnection) -> pd.DataFrame:
    """component, ratio, cumulative, the largest component first."""
    return store.execute("from position_variance order by component").df()
