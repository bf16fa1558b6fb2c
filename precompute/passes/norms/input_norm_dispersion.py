"""Dispersion of ‖x‖ per layer and pooled."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.norms.dispersion import dispersion_query
from analysis.tables.norms.input_norm_dispersion import TABLE
from precompute.passes.base import FitContext, from_query

VERSION = 1
NEEDS = ("token_norm",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and one pooled."""
    return from_query(
        TABLE, store, dispersion_query("input_norm", source="token_norm", key="layer")
    )
