"""Rotation angles between the query directions and the key directions of each head."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, small
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table

PLANE = small("plane", "eigenvector of the rotation, by phase, from 0")
PHASE = number(
    "phase",
    "θ of its eigenvalue e^(iθ): by how much its key wave is ahead of its query wave",
    "radians",
)
TABLE = Table(
    name="query_key_rotation",
    grain="one row per layer, head and eigenvector of the rotation; those it leaves alone because "
    "they are orthogonal to all queries and keys are left out",
    key=(LAYER, HEAD, PLANE),
    values=(PHASE,),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("plane >= 0", "phase between -pi() and pi()"),
    depends_on=(),
)


@asks("""
    select plane, phase
    from query_key_rotation
    where layer = $layer and head = $head
    order by plane
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """plane, phase of one head."""
    ...
