"""Accuracy of heads and rules in finding an antecedent, with intervals over sequences."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.statistics.fit import FitContext
from analysis.statistics.probing.coreference_accuracy import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.coreference_counts import coreference_counts

VERSION = 2
NEEDS = ("coreference_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per type of mention that there is, and head, merging and weighing, or rule."""
    frames = []
    for counts in coreference_counts(store):
        drawn = context.redraws(counts.blocks)
        low, high = accuracy_interval(counts.right, counts.n, drawn)
        n = int(counts.n.sum())
        columns = {"n": n, "accuracy": counts.right.sum(axis=0) / n, "low": low, "high": high}
        frames.append(counts.cells.assign(mention_type=counts.mention_type, **columns))
    return rows_of(TABLE, frames)
