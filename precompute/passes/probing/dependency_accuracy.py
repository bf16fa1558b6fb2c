"""Accuracy of each head in finding the governor of a word, by relation, with intervals."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.dependency_accuracy import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.dependency_scores import heads_of, trees

VERSION = 2
NEEDS = ("dependency_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing, merging, relation, layer, head and direction; none without trees."""
    known = trees(store)
    if not known.n_blocks:
        return TABLE.schema.empty_table()
    heads = heads_of(store)
    drawn = context.redraws(known.blocks)
    frames: list[pd.DataFrame] = []
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        for scores in known.by_relation(known.heads(store, **variant)):
            low, high = accuracy_interval(scores.right, scores.n, drawn.of(scores.rows))
            n = int(scores.n.sum())
            columns = {"n": n, "accuracy": scores.right.sum(axis=0) / n, "low": low, "high": high}
            frames.append(heads.assign(**variant, relation=scores.relation, **columns))
    return rows_of(TABLE, frames)
