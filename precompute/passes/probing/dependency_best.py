"""The best head and the best offset of every relation, chosen on all texts or on half of them."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval, best_probe
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.dependency_best import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.dependency_scores import (
    OFFSETS,
    Part,
    RelationScores,
    heads_of,
    parts_of,
    trees,
)

VERSION = 2
NEEDS = ("dependency_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing, merging, relation and choice whose two halves have the relation."""
    known = trees(store)
    if not known.n_blocks:
        return TABLE.schema.empty_table()
    heads = heads_of(store)
    parts = parts_of(known.blocks, context)
    offsets = list(known.by_relation(known.offsets()))
    rows = []
    for weighing, merging in product(WEIGHINGS, MERGINGS):
        variant = {"weighing": weighing, "merging": merging}
        by_relation = known.by_relation(known.heads(store, **variant))
        for of_heads, of_offsets in zip(by_relation, offsets, strict=True):
            place = {**variant, "relation": of_heads.relation, "n_tried": len(heads)}
            rows += [place | choice for choice in _choices(of_heads, of_offsets, parts, heads)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _choices(
    heads: RelationScores, offsets: RelationScores, parts: dict[str, Part], names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        chosen, scored = part.chosen[heads.rows], part.scored[heads.rows]
        if not chosen.any() or not scored.any():
            continue
        head, offset = best_probe(heads.right, chosen), best_probe(offsets.right, chosen)
        right, by_offset = heads.right[:, head], offsets.right[:, offset]
        n, n_chosen = int(heads.n[scored].sum()), int(heads.n[chosen].sum())
        both = np.stack([right, right - by_offset], axis=1)[scored]
        low, high = accuracy_interval(both, heads.n[scored], part.drawn(heads.rows[scored]))
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
