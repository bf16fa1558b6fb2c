"""How each head's scores vary with position, with query and key, and with both."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.score_share import (
    HeadTotals,
    TermTotals,
    score_shares,
    term_shares,
)
from analysis.tables.positions.offset_term import SUMS
from analysis.tables.positions.rotary_plane import COMPLEX
from analysis.tables.positions.score_share import PARTS, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 2
NEEDS = ("rotary_plane", "offset_term")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head."""
    planes = store.execute("from stored.rotary_plane order by layer, head, plane").df()
    terms = store.execute("from stored.offset_term order by layer, head, bucket").df()
    of_heads = [
        (place, totals, score_shares(totals))
        for place, own in planes.groupby(["layer", "head"])
        for totals in [_totals(own)]
    ]
    of_heads += [
        (place, totals, term_shares(totals))
        for place, own in terms.groupby(["layer", "head"])
        for totals in [_term_totals(own)]
    ]
    rows = []
    for (layer, head), totals, shares in of_heads:
        deviation = (max(totals.whole, 0) / totals.n_pairs) ** 0.5
        place = {"layer": layer, "head": head, "n_pairs": totals.n_pairs, "deviation": deviation}
        rows.append(place | dict(zip(PARTS, shares, strict=True)))
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _term_totals(terms: pd.DataFrame) -> TermTotals:
    """Of one head, bucket after bucket."""
    sums = {name: terms[name].to_numpy() for name in TermTotals._fields if name in SUMS}
    whole, n_pairs = float(np.sum(terms["score"])), int(terms["n_pairs"].iloc[0])
    return TermTotals(**sums, whole=whole, n_pairs=n_pairs)


def _totals(planes: pd.DataFrame) -> HeadTotals:
    """Of one head; what is not turned has no sums but that of the score."""
    sums = {
        name: planes[f"{name}_real"].to_numpy() + 1j * planes[f"{name}_imaginary"].to_numpy()
        for name in COMPLEX
    }
    return HeadTotals(
        **sums, whole=float(np.sum(planes["score"])), n_pairs=int(planes["n_pairs"].iloc[0])
    )
