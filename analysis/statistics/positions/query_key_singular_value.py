"""Singular values of each head's query–key form, by direction."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, whole
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table

RANK = whole("rank", "place in descending order, from 1")
TABLE = Table(
    name="query_key_singular_value",
    grain="one row per layer, head and direction; the values that are exactly 0 are left out",
    key=(LAYER, HEAD, RANK),
    values=(number("value", "singular value of the query-key form on [x 1]", "score"),),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("value >= 0", "rank >= 1"),
    depends_on=(),
)


@asks("""
    select rank, value
    from query_key_singular_value
    where layer = $layer and head = $head
    order by rank
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """Singular values of one head: rank, value."""
    ...
