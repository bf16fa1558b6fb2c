"""Difference of the best head's accuracy for antecedents, by norms and by weights."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.coreference_difference import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.coreference_counts import Counts, coreference_counts, parts_of

VERSION = 1
NEEDS = ("coreference_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per merging, type of mention and part of the corpus the heads were chosen on."""
    rows = []
    for counts in coreference_counts(store):
        for chosen_on, part in parts_of(counts, seed=context.seed):
            key = {"mention_type": counts.mention_type, "chosen_on": chosen_on}
            rows += [key | _row(counts, *part, merging, context) for merging in MERGINGS]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _row(
    counts: Counts, chosen: np.ndarray, scored: np.ndarray, merging: str, context: FitContext
) -> dict[str, Any]:
    row: dict[str, Any] = {"merging": merging, "n": int(counts.n[scored].sum())}
    right = {}
    for weighing in WEIGHINGS:
        best, place, _ = counts.best_head(chosen, weighing=weighing, merging=merging)
        right[weighing] = counts.right[scored, best]
        row |= {f"{name}_{weighing}": at for name, at in place.items()}
        row[f"accuracy_{weighing}"] = right[weighing].sum() / row["n"]
    more = right["norm"] - right["weight"]
    drawn = context.redraws(counts.blocks[scored])
    (low,), (high,) = accuracy_interval(more[:, None], counts.n[scored], drawn)
    return row | {"difference": more.sum() / row["n"], "low": low, "high": high}
