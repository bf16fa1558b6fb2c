"""Hierarchical clustering of heads: groups joined from the nearest to the farthest."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.head_linkage import head_linkage
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_linkage import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.rows import one_name, table_of
from precompute.passes.heads.head_matrix import stored_distances

VERSION = 2
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing and step."""
    return pa.concat_tables(_weighed(store, weighing) for weighing in WEIGHINGS)


def _weighed(store: DuckDBPyConnection, weighing: str) -> pa.Table:
    distances = stored_distances(store, weighing=weighing).distances
    left, right, height, n_heads = head_linkage(distances).T
    return table_of(
        TABLE,
        weighing=one_name(weighing, WEIGHINGS, len(height)),
        step=np.arange(len(height)),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        height=height,
        n_heads=n_heads.astype(np.int32),
    )
