"""The best head for each type of mention, chosen on all texts or on half of them."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.coreference_best import TABLE
from analysis.statistics.probing.coreference_prediction import BASELINES
from analysis.statistics.rows import rows_of
from precompute.passes.probing.coreference_counts import Counts, coreference_counts, parts_of

VERSION = 2
NEEDS = ("coreference_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing, merging, type of mention, part it was chosen on, and rule.

    A part is left out where it, or the part to score on, has no such mention.
    """
    rows = []
    for counts in coreference_counts(store):
        for chosen_on, (chosen, scored) in parts_of(counts, seed=context.seed):
            key = {"mention_type": counts.mention_type, "chosen_on": chosen_on}
            rows += [key | row for row in _rows(counts, chosen, scored, context)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _rows(
    counts: Counts, chosen: np.ndarray, scored: np.ndarray, context: FitContext
) -> Iterator[dict[str, Any]]:
    drawn = context.redraws(counts.blocks[scored])
    n, n_chosen = (int(counts.n[part].sum()) for part in (scored, chosen))
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        best, place, n_tried = counts.best_head(chosen, **variant)
        right = counts.right[:, best]
        for baseline in BASELINES:
            (rule,) = np.flatnonzero(counts.cells["method"] == baseline)
            more = right - counts.right[:, rule]
            both = np.stack([right, more], axis=1)[scored]
            low, high = accuracy_interval(both, counts.n[scored], drawn)
            yield {
                **variant,
                "baseline": baseline,
                **place,
                "n_tried": n_tried,
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
