"""The best head and the best offset of every relation, chosen on all texts or on half of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import Redraws
from analysis.measures.probe_accuracy import accuracy_interval, best_probe, halves
from analysis.tables.annotation import MERGINGS
from analysis.tables.dependency_best import TABLE
from precompute.dependency_scores import OFFSETS, Scores, heads_of, trees
from precompute.intervals import rows_of
from precompute.passes.base import FitContext

VERSION = 2
NEEDS = ("dependency_prediction",)
Parts = dict[str, tuple[np.ndarray, np.ndarray, Redraws]]


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per merging, relation and choice, where both halves of a choice have the relation."""
    known = trees(store)
    if not known.n_sequences:
        return TABLE.schema.empty_table()
    heads = heads_of(store)
    parts = _parts(known.sequences, context)
    offsets = list(known.by_relation(known.offsets()))
    rows = []
    for merging in MERGINGS:
        found = known.by_relation(known.heads(store, merging=merging))
        for of_heads, of_offsets in zip(found, offsets, strict=True):
            place = {"merging": merging, "relation": of_heads.relation, "n_tried": len(heads)}
            rows += [place | each for each in _choices(of_heads, of_offsets, parts, heads)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _parts(sequences: np.ndarray, context: FitContext) -> Parts:
    """By choice, which sequences are chosen on, which are scored, and resamples of the latter."""
    first = halves(len(sequences), seed=context.seed)
    every = np.ones_like(first)
    parts = {"all": (every, every), "first": (first, ~first), "second": (~first, first)}
    return {
        name: (chosen, scored, context.redraws(sequences[scored]))
        for name, (chosen, scored) in parts.items()
    }


def _choices(
    heads: Scores, offsets: Scores, parts: Parts, names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, (chosen_on, scored_on, drawn) in parts.items():
        chosen, scored = chosen_on[heads.rows], scored_on[heads.rows]
        if not chosen.any() or not scored.any():
            continue
        head, offset = best_probe(heads.right, chosen), best_probe(offsets.right, chosen)
        right, by_offset = heads.right[:, head], offsets.right[:, offset]
        n, n_chosen = int(heads.n[scored].sum()), int(heads.n[chosen].sum())
        both = np.stack([right, right - by_offset], axis=1)[scored]
        of_relation = np.searchsorted(np.flatnonzero(scored_on), heads.rows[scored])
        low, high = accuracy_interval(both, heads.n[scored], drawn.of(of_relation))
        yield {
            **{str(name): value for name, value in names.iloc[head].items()},
            "chosen_on": name,
            "n_chosen": n_chosen,
            "accuracy_chosen": right[chosen].sum() / n_chosen,
            "n": n,
            "accuracy": right[scored].sum() / n,
            "low": low[0],
            "high": high[0],
            "offset": OFFSETS[offset],
            "offset_accuracy": by_offset[scored].sum() / n,
            "difference": (right[scored] - by_offset[scored]).sum() / n,
            "difference_low": low[1],
            "difference_high": high[1],
        }
