"""Dispersion of ‖f(x)‖ per head and pooled."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.norms.dispersion import dispersion_query
from analysis.tables.norms.value_norm_dispersion import TABLE
from precompute.passes.base import FitContext, from_query

VERSION = 1
NEEDS = ("head_token",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per head and one pooled."""
    return from_query(
        TABLE, store, dispersion_query("value_norm", source="head_token", key="layer, head")
    )
