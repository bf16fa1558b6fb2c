"""Which heads attend alike: a tree of groups, joined from the nearest to the farthest."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.head_linkage import head_linkage
from analysis.tables.head_linkage import TABLE
from precompute.head_matrix import stored_distances
from precompute.passes.base import FitContext, table_of

VERSION = 1
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per step."""
    left, right, height, n_heads = head_linkage(stored_distances(store).distances).T
    return table_of(
        TABLE,
        step=np.arange(len(height)),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        height=height,
        n_heads=n_heads.astype(np.int32),
    )
