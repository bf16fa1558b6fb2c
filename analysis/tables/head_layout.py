"""Heads as points of a plane that are as far apart as the heads attend differently."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import HEAD, LAYER, Column, Table, View

_POINT = (
    Column("x", pa.float64(), "place along the axis on which heads differ most", "nats"),
    Column("y", pa.float64(), "place along the axis across it", "nats"),
)
_STRESS = Column(
    "stress",
    pa.float64(),
    "Kruskal's stress-1 of the whole plane: root of the sum of squared differences between "
    "distances in the plane and mean divergences, over the sum of squared distances in the plane; "
    "0 is exact, NULL where no two heads differ",
    "ratio",
    nullable=True,
)
_GRAIN = "one row per layer and head, of two heads or more"
TABLE = Table(
    name="head_layout",
    grain=_GRAIN,
    key=(LAYER, HEAD),
    values=(*_POINT, _STRESS),
    source="clark-2019",
    laws=("isfinite(x)", "isfinite(y)", "stress is null or stress >= 0"),
    views=(
        View(
            "head_layout",
            _GRAIN,
            (LAYER, HEAD, *_POINT),
            "select * exclude (stress) from stored.head_layout",
        ),
        View(
            "head_layout_stress",
            _GRAIN,
            (LAYER, HEAD, *_POINT, _STRESS),
            "from stored.head_layout",
        ),
    ),
)


def layout(store: DuckDBPyConnection) -> pd.DataFrame:
    """Where every head lies, and how well the plane tells distances.

    Returns:
        layer, head, x, y, stress (the same in every row).
    """
    return store.execute("from head_layout_stress order by layer, head").df()
