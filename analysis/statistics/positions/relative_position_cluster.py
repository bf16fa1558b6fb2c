"""Nearest kind of attention by relative position for each head, and the number of its texts."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import number
from analysis.statistics.positions.relative_position_centre import CLUSTER, K
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table, View

_SHARE = number("share", "share of the texts in which the head is nearest to the centre")
_KEY = (LAYER, HEAD, CLUSTER)
TABLE = Table(
    name="relative_position_cluster",
    grain="one row per number of clusters, layer, head and cluster that it belongs to in some text",
    key=(K, *_KEY),
    values=(_SHARE,),
    source="yamamoto-2023",
    declared=CHOSEN,
    laws=("share > 0 and share <= 1", "k between 2 and 12"),
    shown_as="relative_position_clustering",
    views=(
        View(
            "relative_position_cluster",
            "one row per layer, head and cluster, of 6, that it belongs to in some text",
            (*_KEY, _SHARE),
            "select layer, head, cluster, share from stored.relative_position_cluster where k = 6",
        ),
    ),
    depends_on=(),
)


@asks("""
    select layer, head, cluster, share
    from relative_position_clustering
    where k = $k
    order by layer, head, share desc, cluster
""")
def shares(store: DuckDBPyConnection, *, k: int) -> pd.DataFrame:
    """Share of the texts in which a head belongs to each of k clusters: layer, head, cluster,
    share; no row for share 0."""
    ...
