"""Means over sequences of how much the loss depends on each head, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.heads.gradient_importance import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals

VERSION = 1
NEEDS = ("sequence_gradient_importance",)
_OF_HEADS = """
    select seq, objective, layer, head, token_type, importance
    from sequence_gradient_importance
"""
_OF_LAYERS = """
    select seq, objective, layer, token_type, avg(importance) as importance
    from sequence_gradient_importance
    group by all
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head (or their mean) and token type; none without gradients."""
    heads = _means(store.sql(_OF_HEADS).df(), ["layer", "head"], context)
    layers = _means(store.sql(_OF_LAYERS).df(), ["layer"], context)
    return rows_of(TABLE, [each for each in (heads, layers.assign(head=np.nan)) if len(each)])


def _means(rows: pd.DataFrame, place: list[str], context: FitContext) -> pd.DataFrame:
    if rows.empty:
        return rows
    rows = rows.astype({"objective": str, "token_type": str})
    cell = ["objective", *place, "token_type"]
    cells, sequences, values = by_sequence(rows, cell=cell, value="importance")
    means = with_intervals(cells, values, context.redraws(sequences))
    return means.rename(columns={"mean": "importance"})
