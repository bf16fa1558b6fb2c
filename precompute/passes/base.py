"""Fits of passes with a file of their own."""

from collections.abc import Callable

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext, from_query
from analysis.statistics.means import Means, mean_of
from analysis.statistics.table import Table


def fit_of_query(table: Table, sql: str) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """Return the fit of a pass that consists of one query."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return from_query(table, store, sql)

    return fit


def mean_over_sequences(
    table: Table, *declared: Means
) -> Callable[[DuckDBPyConnection, FitContext], pa.Table]:
    """Return the fit of a pass that fills its table with means over sequences alone."""

    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        return mean_of(*declared)(table, store, context)

    return fit
