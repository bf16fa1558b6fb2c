"""Kinds of attention by relative position: cluster centres of profiles."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import count, number, text
from analysis.statistics.positions.relative_position_profile import OFFSET
from analysis.statistics.question import asks
from analysis.statistics.table import Column, Table

N_CLUSTERS = tuple(range(2, 13))
"""Numbers of clusters of profiles; the paper takes 6."""
K = Column("k", pa.uint8(), "clusters that profiles are sorted into, 2 to 12", "clusters")
CLUSTER = text(
    "cluster",
    "where the centre looks (previous, next, both or self) and how strongly (strong, moderate or "
    "weak)",
    "name",
)
TABLE = Table(
    name="relative_position_centre",
    grain="one row per number of clusters, cluster and offset that a key may have",
    key=(K, CLUSTER, OFFSET),
    values=(
        number("attention", "the centre: tr_t(A) / n, mean over the profiles of the cluster"),
        count("n", "profiles that the centre is the mean of", "profiles"),
        number("explained", "share of the variance of profiles that the k centres explain"),
    ),
    source="yamamoto-2023",
    declared=CHOSEN,
    laws=(
        "attention between 0 and 1.05",
        "n > 0",
        "explained between 0 and 1",
        "k between 2 and 12",
    ),
    depends_on=(),
)


@asks("""
    select cluster, "offset", attention, n
    from relative_position_centre
    where k = $k
    order by max(attention) over (partition by cluster) desc, cluster, "offset"
""")
def centres(store: DuckDBPyConnection, *, k: int) -> pd.DataFrame:
    """The centres of k clusters: cluster, offset, attention, n; the strongest cluster first."""
    ...


@asks("""
    select k, any_value(explained) as explained
    from relative_position_centre
    group by k
    order by k
""")
def explained(store: DuckDBPyConnection) -> pd.DataFrame:
    """Share of the variance of profiles that each number of clusters explains: k, explained."""
    ...
