"""Heads as points of a plane, placed by multidimensional scaling of their distances."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_layout import head_layout
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_layout import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.rows import rows_of
from precompute.passes.heads.head_matrix import stored_distances

VERSION = 2
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing, layer and head."""
    frames = []
    for weighing in WEIGHINGS:
        distances, layers, heads = stored_distances(store, weighing=weighing)
        layout = head_layout(distances, seed=context.seed)
        if layout is not None:
            x, y = layout.points.T
            columns = {"layer": layers, "head": heads, "x": x, "y": y, "stress": layout.stress}
            frames.append(pd.DataFrame({"weighing": weighing, **columns}))
    return rows_of(TABLE, frames)
