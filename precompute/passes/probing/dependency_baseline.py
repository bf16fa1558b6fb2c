"""Accuracy of fixed offsets in finding the governor of a word, by relation."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.probing.dependency_baseline import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.dependency_scores import OFFSETS, trees

VERSION = 2
NEEDS = ()


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per relation and offset; none without trees."""
    known = trees(store)
    if not known.n_blocks:
        return TABLE.schema.empty_table()
    frames = [
        pd.DataFrame(
            {
                "relation": scores.relation,
                "offset": OFFSETS,
                "n": scores.n.sum(),
                "accuracy": scores.right.sum(axis=0) / scores.n.sum(),
            }
        )
        for scores in known.by_relation(known.offsets())
    ]
    return rows_of(TABLE, frames)
