"""Difference of the best head's accuracy for each relation, by norms and by weights."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probing.probe_accuracy import accuracy_interval, best_probe
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.fit import FitContext
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing.dependency_difference import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.probing.dependency_scores import (
    Part,
    RelationScores,
    heads_of,
    parts_of,
    trees,
)

VERSION = 1
NEEDS = ("dependency_prediction",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per merging, relation and choice, where both halves of a choice have the relation."""
    known = trees(store)
    if not known.n_blocks:
        return TABLE.schema.empty_table()
    heads, parts = heads_of(store), parts_of(known.blocks, context)
    rows = []
    for merging in MERGINGS:
        by_weighing = (
            known.by_relation(known.heads(store, merging=merging, weighing=weighing))
            for weighing in WEIGHINGS
        )
        for weight, norm in zip(*by_weighing, strict=True):
            place = {"merging": merging, "relation": weight.relation}
            rows += [place | choice for choice in _choices(weight, norm, parts, heads)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _choices(
    weight: RelationScores, norm: RelationScores, parts: dict[str, Part], names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        chosen, scored = part.chosen[weight.rows], part.scored[weight.rows]
        if not chosen.any() or not scored.any():
            continue
        ways = dict(zip(WEIGHINGS, (weight, norm), strict=True))
        best = {weighing: best_probe(of.right, chosen) for weighing, of in ways.items()}
        right = {weighing: of.right[scored, best[weighing]] for weighing, of in ways.items()}
        n, more = weight.n[scored], right["norm"] - right["weight"]
        (low,), (high,) = accuracy_interval(more[:, None], n, part.drawn(weight.rows[scored]))
        yield {
            **{
                f"{column}_{weighing}": value
                for weighing in WEIGHINGS
                for column, value in names.iloc[best[weighing]].items()
            },
            "chosen_on": name,
            "n": int(n.sum()),
            **{f"accuracy_{weighing}": right[weighing].sum() / n.sum() for weighing in WEIGHINGS},
            "difference": more.sum() / n.sum(),
            "low": low,
            "high": high,
        }
