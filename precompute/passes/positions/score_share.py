"""How each head's scores vary with position, with query and key, and with both."""

from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.measures.bootstrap import Redraws
from analysis.measures.positions.score_share import HeadTotals, score_shares
from analysis.tables.positions.score_share import PARTS, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of
from precompute.passes.planes_by_block import HeadBlocks, blocks_there, head_blocks

VERSION = 2
NEEDS = ("rotary_plane",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head, and for the mean over the heads of each layer."""
    drawn = context.redraws(blocks_there(store))
    rows = []
    for layer, heads in groupby(head_blocks(store), key=lambda each: each.layer):
        shares, resampled, deviations, n_pairs = [], [], [], 0
        for each in heads:
            whole = each.whole()
            shares.append(_shares(whole)[0])
            resampled.append(_shares(each.drawn(drawn.weights)))
            n_pairs = int(whole.n_pairs[0])
            deviations.append((max(whole.score[0], 0) / n_pairs) ** 0.5)
            own = _with_ends(shares[-1], resampled[-1], drawn)
            place = {"layer": layer, "head": each.head, "n_pairs": n_pairs}
            rows.append(place | {"deviation": deviations[-1]} | own)
        ends = _with_ends(_mean(shares), _mean(resampled), drawn)
        place = {"layer": layer, "head": None, "n_pairs": n_pairs}
        rows.append(place | {"deviation": np.mean(deviations)} | ends)
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _shares(sums: HeadBlocks) -> Float[np.ndarray, "block 4"]:
    return score_shares(HeadTotals(**sums.planes, whole=sums.score, n_pairs=sums.n_pairs))


def _mean(heads: list[np.ndarray]) -> np.ndarray:
    """The mean over the heads that have shares; NaN where none has."""
    found = np.array(heads)
    there = ~np.isnan(found)
    total, n = np.where(there, found, 0).sum(axis=0), there.sum(axis=0)
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _with_ends(
    shares: Float[np.ndarray, "4"], resampled: Float[np.ndarray, "resample 4"], drawn: Redraws
) -> dict[str, Any]:
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
