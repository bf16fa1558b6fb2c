"""The best head and the best offset of every relation, chosen on all texts or on half of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.probe_accuracy import accuracy_interval, best_probe, halves
from analysis.measures.token_type_mixing import sequence_draws
from analysis.tables.annotation import MERGINGS
from analysis.tables.dependency_best import TABLE
from precompute.dependency_scores import OFFSETS, Scores, heads_of, trees
from precompute.passes.base import FitContext

VERSION = 2
NEEDS = ("dependency_prediction",)
Draws = dict[str, tuple[np.ndarray, np.ndarray]]


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per merging, relation and choice, where both halves of a choice have the relation."""
    known = trees(store)
    if not known.n_sequences:
        return TABLE.schema.empty_table()
    heads = heads_of(store)
    draws = _draws(known.n_sequences, context.seed)
    offsets = list(known.by_relation(known.offsets()))
    rows = []
    for merging in MERGINGS:
        found = known.by_relation(known.heads(store, merging=merging))
        for of_heads, of_offsets in zip(found, offsets, strict=True):
            place = {"merging": merging, "relation": of_heads.relation, "n_tried": len(heads)}
            rows += [place | each for each in _choices(of_heads, of_offsets, draws, heads)]
    return pa.Table.from_pylist(rows, schema=TABLE.schema)


def _draws(n_sequences: int, seed: int) -> Draws:
    """By choice, which sequences are chosen on, and how often each of the scored ones is drawn."""
    first = halves(n_sequences, seed=seed)
    scored = {"all": np.ones(n_sequences, dtype=bool), "first": ~first, "second": first}
    chosen = {**scored, "first": first, "second": ~first}
    found = {}
    for name, members in scored.items():
        draws = np.zeros((0, n_sequences))
        if members.any():
            drawn = sequence_draws(int(members.sum()), seed=seed)
            draws = np.zeros((len(drawn), n_sequences))
            draws[:, members] = drawn
        found[name] = (chosen[name], draws)
    return found


def _choices(
    heads: Scores, offsets: Scores, draws: Draws, names: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    for name, (chosen_on, drawn) in draws.items():
        chosen = chosen_on[heads.rows]
        scored = np.ones_like(chosen) if name == "all" else ~chosen
        if not chosen.any() or not scored.any():
            continue
        head, offset = best_probe(heads.right, chosen), best_probe(offsets.right, chosen)
        right, by_offset = heads.right[:, head], offsets.right[:, offset]
        n, n_chosen = int(heads.n[scored].sum()), int(heads.n[chosen].sum())
        both = np.stack([right, right - by_offset], axis=1)[scored]
        low, high = accuracy_interval(both, heads.n[scored], drawn[:, heads.rows[scored]])
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
