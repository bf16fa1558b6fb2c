"""How each head's scores vary with position, with query and key, and with both."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.score_share import HeadTotals, score_shares
from analysis.tables.positions.rotary_plane import COMPLEX
from analysis.tables.positions.score_share import PARTS, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 1
NEEDS = ("rotary_plane",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head."""
    planes = store.execute("from stored.rotary_plane order by layer, head, plane").df()
    rows = []
    for (layer, head), own in planes.groupby(["layer", "head"]):
        totals = _totals(own)
        shares = dict(zip(PARTS, score_shares(totals), strict=True))
        deviation = (max(totals.whole, 0) / totals.n_pairs) ** 0.5
        place = {"layer": layer, "head": head, "n_pairs": totals.n_pairs, "deviation": deviation}
        rows.append(place | shares)
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _totals(planes: pd.DataFrame) -> HeadTotals:
    """Of one head; what is not turned has no sums but that of the score."""
    sums = {
        name: planes[f"{name}_real"].to_numpy() + 1j * planes[f"{name}_imaginary"].to_numpy()
        for name in COMPLEX
    }
    return HeadTotals(
        **sums, whole=float(np.sum(planes["score"])), n_pairs=int(planes["n_pairs"].iloc[0])
    )
