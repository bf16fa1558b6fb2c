"""The best head for each type of mention, chosen on all texts or on half of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probe_accuracy import accuracy_interval, best_probe, halves
from analysis.tables.annotation import MERGINGS
from analysis.tables.coreference_best import TABLE
from analysis.tables.coreference_prediction import BASELINES
from precompute.coreference_counts import Counts, coreference_counts
from precompute.intervals import rows_of
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("coreference_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per merging, type of mention, part of the corpus it was chosen on, and rule.

    A part is left out where it, or the part to score on, has no such mention.
    """
    rows = []
    for counts in coreference_counts(store):
        first = halves(len(counts.n), seed=context.seed)
        parts = {"all": (first | True, first | True), "first": (first, ~first)}
        parts["second"] = (~first, first)
        for chosen_on, (chosen, scored) in parts.items():
            if counts.n[chosen].any() and counts.n[scored].any():
                key = {"mention_type": counts.mention_type, "chosen_on": chosen_on}
                rows += [key | row for row in _rows(counts, chosen, scored, context)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _rows(
    counts: Counts, chosen: np.ndarray, scored: np.ndarray, context: FitContext
) -> Iterator[dict[str, Any]]:
    drawn = context.redraws(counts.sequences[scored])
    n, n_chosen = (int(counts.n[part].sum()) for part in (scored, chosen))
    for merging in MERGINGS:
        cells = counts.cells[counts.cells["merging"] == merging]
        best = cells.index[best_probe(counts.right[:, cells.index], chosen)]
        head, right = cells.loc[best], counts.right[:, best]
        for baseline in BASELINES:
            (rule,) = np.flatnonzero(counts.cells["method"] == baseline)
            more = right - counts.right[:, rule]
            both = np.stack([right, more], axis=1)[scored]
            low, high = accuracy_interval(both, counts.n[scored], drawn)
            yield {
                "merging": merging,
                "baseline": baseline,
                "layer": int(head["layer"]),
                "head": int(head["head"]),
                "n_tried": len(cells),
                "n_chosen": n_chosen,
                "accuracy_chosen": right[chosen].sum() / n_chosen,
                "n": n,
                "accuracy": right[scored].sum() / n,
                "low": low[0],
                "high": high[0],
                "baseline_accuracy": counts.right[scored, rule].sum() / n,
                "difference": more[scored].sum() / n,
                "difference_low": low[1],
                "difference_high": high[1],
            }
