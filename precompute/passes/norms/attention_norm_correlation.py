"""Spearman's ρ of α and ‖f(x)‖ by token type: per head, per layer and pooled."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from analysis.measures.norms.attention_norm_correlation import can_be_ranked, histogram_spearman
from analysis.tables.norms.attention_norm_correlation import TABLE
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("attention_norm_histogram",)
_GROUP, _CELL = ("layer", "head", "token_type"), ("attention_bin", "norm_bin", "n")
_LEVELS = (("layer", "head"), ("layer",), ())


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per token type and head, per token type and layer, and per token type."""
    histogram = store.sql(f"select {', '.join((*_GROUP, *_CELL))} from attention_norm_histogram")
    cells = histogram.to_arrow_table()
    rows = [_row(*group) for level in _LEVELS for group in _groups(cells, level)]
    return pa.Table.from_pylist(rows, schema=TABLE.schema)


def _groups(
    cells: pa.Table, level: tuple[str, ...]
) -> Iterator[tuple[dict[str, int], str, list[np.ndarray]]]:
    """The cells of every token type at one level of pooling, and the layer and head they are of."""
    columns = [cells[name].to_numpy() for name in _CELL]
    parts = defaultdict(list)
    for first, after, group in _runs(cells):
        key = tuple(group[name] for name in (*level, "token_type"))
        parts[key].append(slice(first, after))
    for key, places in sorted(parts.items()):
        *numbers, token_type = key
        of_group = [np.concatenate([column[place] for place in places]) for column in columns]
        yield dict(zip(level, numbers, strict=True)), token_type, of_group


def _runs(cells: pa.Table) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Where rows of one layer, head and token type that follow each other begin and end, and these
    three."""
    groups = cells.select(_GROUP).combine_chunks()
    names = pc.call_function("dictionary_encode", [groups["token_type"]]).combine_chunks()
    columns = [groups["layer"], groups["head"], names.indices]
    is_new = np.zeros(max(len(cells) - 1, 0), dtype=bool)
    for column in columns:
        is_new |= np.diff(column.to_numpy()) != 0
    firsts = np.r_[0, np.flatnonzero(is_new) + 1][: len(cells)]
    after = [*firsts[1:], len(cells)]
    yield from zip(firsts, after, groups.take(firsts).to_pylist(), strict=False)


def _row(place: dict[str, int], token_type: str, cells: list[np.ndarray]) -> dict:
    """ρ of some cells; the same cell may come from several heads, which changes no sum."""
    first, second, counts = cells
    spearman = histogram_spearman(first, second, counts)
    return {
        "layer": place.get("layer"),
        "head": place.get("head"),
        "token_type": token_type,
        "n": int(counts.sum()),
        "spearman": spearman if can_be_ranked(second, counts) else None,
    }
