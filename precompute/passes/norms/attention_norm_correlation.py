"""Spearman's ρ of α and ‖f(x)‖ by token type: per head, per layer and pooled."""

from collections.abc import Iterator
from typing import cast

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.norms.attention_norm_correlation import can_be_ranked, histogram_spearman
from analysis.tables.norms.attention_norm_correlation import TABLE
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("attention_norm_histogram",)
_LEVELS = (("layer", "head"), ("layer",), ())


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per token type and head, per token type and layer, and per token type."""
    cells = store.execute(
        "select layer, head, token_type, attention_bin, norm_bin, n from attention_norm_histogram"
    ).df()
    rows = [_row(*group) for level in _LEVELS for group in _groups(cells, level)]
    return pa.Table.from_pylist(rows, schema=TABLE.schema)


def _groups(
    cells: pd.DataFrame, level: tuple[str, ...]
) -> Iterator[tuple[dict[str, int], str, pd.DataFrame]]:
    """The cells of every token type at one level of pooling, and the layer and head they are of."""
    for key, group in cells.groupby([*level, "token_type"], sort=True, observed=True):
        *numbers, token_type = cast(tuple, key)
        yield dict(zip(level, map(int, numbers), strict=True)), str(token_type), group


def _row(place: dict[str, int], token_type: str, cells: pd.DataFrame) -> dict:
    """ρ of some cells; the same cell may come from several heads, which changes no sum."""
    first, second, counts = (cells[name].to_numpy() for name in ("attention_bin", "norm_bin", "n"))
    spearman = histogram_spearman(first, second, counts)
    return {
        "layer": place.get("layer"),
        "head": place.get("head"),
        "token_type": token_type,
        "n": int(counts.sum()),
        "spearman": spearman if can_be_ranked(second, counts) else None,
    }
