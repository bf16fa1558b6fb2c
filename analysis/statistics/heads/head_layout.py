"""Heads as points of a plane, placed by multidimensional scaling of their distances."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_map import head_layout
from analysis.statistics.columns import number
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance import stored_distances
from analysis.statistics.norms.weighing import (
    WEIGHING,
    WEIGHINGS,
    WEIGHT,
    of_weights,
    one_weighing,
)
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, LAYER, Table

_POINT = (
    number("x", "place along the axis on which heads differ most", "nats"),
    number("y", "place along the axis across it", "nats"),
)
_STRESS = number(
    "stress",
    "Kruskal's stress-1 of the whole plane: root of the sum of squared differences between "
    "distances in the plane and mean divergences, over the sum of squared distances in the plane; "
    "0 is exact, NULL where no two heads differ",
    "ratio",
    nullable=True,
)
_NAME, _GRAIN = "head_layout", "one row per layer and head, of two heads or more"


def _layout(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the points of both weighings."""
    frames = []
    for weighing in WEIGHINGS:
        distances, layers, heads = stored_distances(store, weighing=weighing)
        layout = head_layout(distances, seed=context.seed)
        if layout is not None:
            x, y = layout.points.T
            columns = {"layer": layers, "head": heads, "x": x, "y": y, "stress": layout.stress}
            frames.append(pd.DataFrame({"weighing": weighing, **columns}))
    return rows_of(table, frames)


TABLE = Table(
    name=_NAME,
    grain="one row per weighing, layer and head, of two heads or more",
    key=(WEIGHING, LAYER, HEAD),
    values=(*_POINT, _STRESS),
    source="clark-2019",
    laws=("isfinite(x)", "isfinite(y)", "stress is null or stress >= 0"),
    shown_as="head_layout_weighing",
    views=(
        of_weights(_NAME, _GRAIN, (LAYER, HEAD, *_POINT)),
        of_weights("head_layout_stress", _GRAIN, (LAYER, HEAD, *_POINT, _STRESS), table=_NAME),
    ),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_layout,
)


@asks(one_weighing("head_layout", order="layer, head"))
def layout(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Position of every head, and the plane's stress in every row: layer, head, x, y, stress."""
    ...
