"""Share of the variance of the learned position embeddings in few dimensions."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, whole
from analysis.statistics.question import frame_of
from analysis.statistics.table import Table

TABLE = Table(
    name="position_variance",
    grain="one row per principal component; none if the model learns no position embeddings",
    key=(whole("component", "principal component, from 1"),),
    values=(
        number("ratio", "share of the variance over positions"),
        number("cumulative", "share of this component and all before it"),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("component >= 1", "ratio between 0 and 1", "cumulative between ratio and 1 + 1e-9"),
    depends_on=(),
)


def cumulative(store: DuckDBPyConnection) -> pd.DataFrame:
    """component, ratio, cumulative, the largest component first."""
    return frame_of(store, "from position_variance order by component")
