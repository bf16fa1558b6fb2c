"""Share of the variance of each head's scores due to position, query, key and both."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.measures.bootstrap import Redraws
from analysis.measures.positions.score_share import score_shares
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.score_share import PARTS, TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.head_blocks import blocks_there, head_blocks

VERSION = 4
NEEDS = ("rotary_plane", "offset_term")
Row = dict[str, Any]


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head, and for the mean over the heads of each layer."""
    rows = list(_rows(store, context))
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _rows(store: DuckDBPyConnection, context: FitContext) -> Iterator[Row]:
    drawn = context.redraws(blocks_there(store))
    for layer, heads in groupby(head_blocks(store), key=lambda blocks: blocks.layer):
        shares, resampled, deviations, n_pairs = [], [], [], 0
        for blocks in heads:
            totals = blocks.whole()
            shares.append(score_shares(totals)[0])
            resampled.append(score_shares(blocks.drawn(drawn.weights)))
            n_pairs = int(totals.n_pairs[0])
            deviations.append(_deviation(totals.whole[0], n_pairs))
            of_head = _with_ends(shares[-1], resampled[-1], drawn)
            yield _row(layer, blocks.head, n_pairs, deviations[-1]) | of_head
        ends = _with_ends(_mean(shares), _mean(resampled), drawn)
        yield _row(layer, None, n_pairs, float(np.mean(deviations))) | ends


def _row(layer: Any, head: Any, n_pairs: int, deviation: float) -> Row:
    return {"layer": layer, "head": head, "n_pairs": n_pairs, "deviation": deviation}


def _deviation(squares: float, n_pairs: int) -> float:
    return (max(squares, 0) / n_pairs) ** 0.5


def _mean(heads: list[np.ndarray]) -> np.ndarray:
    """The mean over the heads that have shares; NaN where none has."""
    shares = np.array(heads)
    there = ~np.isnan(shares)
    total, n = np.where(there, shares, 0).sum(axis=0), there.sum(axis=0)
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _with_ends(
    shares: Float[np.ndarray, "4"], resampled: Float[np.ndarray, "resample 4"], drawn: Redraws
) -> Row:
    """The columns of the shares and of the ends of their intervals."""
    present = np.broadcast_to(~np.isnan(shares), (len(drawn.units), len(PARTS)))
    low, high = drawn.interval(resampled, present)
    ends = zip(PARTS, shares, low, high, strict=True)
    return {
        name: value
        for part, share, *of_part in ends
        for name, value in zip(
            (part, f"{part}_low", f"{part}_high"), (share, *of_part), strict=True
        )
    }
