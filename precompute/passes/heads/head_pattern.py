"""Means over sequences of what each head attends to, and how broadly, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.habits import QUANTITIES, TOKEN_TYPES
from analysis.tables.heads.head_pattern import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, rows_of, with_intervals, zero_where_absent

VERSION = 3
NEEDS = ("sequence_head_pattern",)
_COLUMNS = ", ".join(f'"{each}"' for each in QUANTITIES)
_OF_HEADS = f"""
    unpivot (
        select weighing::varchar as weighing, seq, layer, head, {_COLUMNS}
        from sequence_head_pattern_weighing
    )
    on {_COLUMNS} into name quantity value mean
"""
_OF_LAYERS = (
    f"select weighing, seq, layer, quantity, avg(mean) as mean from ({_OF_HEADS}) group by all"
)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing, layer, head (or their mean) and habit that some sequence has."""
    of_head = ["weighing", "layer", "head", "quantity"]
    heads = _means(store.sql(_OF_HEADS).df(), of_head, context)
    layers = _means(store.sql(_OF_LAYERS).df(), ["weighing", "layer", "quantity"], context)
    return rows_of(TABLE, [heads, layers.assign(head=np.nan)])


def _means(rows: pd.DataFrame, cell: list[str], context: FitContext) -> pd.DataFrame:
    cells, sequences, values = by_sequence(rows, cell=cell, value="mean")
    values = zero_where_absent(cells, values, TOKEN_TYPES)
    return with_intervals(cells, values, context.redraws(sequences))
