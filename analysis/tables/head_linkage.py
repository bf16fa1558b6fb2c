"""Which heads attend alike: a tree of groups, joined from the nearest to the farthest."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import Column, Table

_GROUP = (
    "0 to N − 1 are the heads, those of the first layer first; N + s is the group that step s made"
)
TABLE = Table(
    name="head_linkage",
    grain="one row per step that joins two groups of heads into one",
    key=(Column("step", pa.int32(), "step, counted from 0", "index"),),
    values=(
        Column("left", pa.int32(), f"one group: {_GROUP}", "index"),
        Column("right", pa.int32(), "the other group, counted in the same way", "index"),
        Column(
            "height",
            pa.float64(),
            "mean over their heads of the mean divergence of a head of one and a head of the other",
            "nats",
        ),
        Column("n_heads", pa.int32(), "heads in both groups", "heads"),
    ),
    source="sokal-1958",
    laws=("height >= 0", "n_heads >= 2", '"left" <> "right"'),
)


def steps(store: DuckDBPyConnection) -> pd.DataFrame:
    """The steps in their order.

    Returns:
        step, left, right, height, n_heads.
    """
    return store.execute("from head_linkage order by step").df()
