"""How each head's scores vary with position, with query and key, and with both."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.measures.bootstrap import Redraws
from analysis.measures.positions.score_share import (
    HeadTotals,
    TermTotals,
    score_shares,
    term_shares,
)
from analysis.tables.positions.offset_term import SUMS
from analysis.tables.positions.score_share import PARTS, TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of
from precompute.passes.planes_by_block import HeadBlocks, blocks_there, head_blocks

VERSION = 3
NEEDS = ("rotary_plane", "offset_term")
Row = dict[str, Any]


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer and head, and for the mean over the heads of each layer; without intervals
    where scores have terms of offsets."""
    rows = [*_of_planes(store, context), *_of_terms(store)]
    return rows_of(TABLE, [pd.DataFrame(rows)] if rows else [])


def _of_planes(store: DuckDBPyConnection, context: FitContext) -> Iterator[Row]:
    """Of layers that turn their queries and keys."""
    drawn = context.redraws(blocks_there(store))
    for layer, heads in groupby(head_blocks(store), key=lambda each: each.layer):
        shares, resampled, deviations, n_pairs = [], [], [], 0
        for each in heads:
            whole = each.whole()
            shares.append(_shares(whole)[0])
            resampled.append(_shares(each.drawn(drawn.weights)))
            n_pairs = int(whole.n_pairs[0])
            deviations.append(_deviation(whole.score[0], n_pairs))
            own = _with_ends(shares[-1], resampled[-1], drawn)
            yield _row(layer, each.head, n_pairs, deviations[-1]) | own
        ends = _with_ends(_mean(shares), _mean(resampled), drawn)
        yield _row(layer, None, n_pairs, float(np.mean(deviations))) | ends


def _of_terms(store: DuckDBPyConnection) -> Iterator[Row]:
    """Of layers whose scores have terms of offsets."""
    terms = store.execute("from stored.offset_term order by layer, head, bucket").df()
    for layer, of_layer in terms.groupby("layer"):
        shares, deviations, n_pairs = [], [], 0
        for head, own in of_layer.groupby("head"):
            totals = _term_totals(own)
            n_pairs = totals.n_pairs
            shares.append(term_shares(totals))
            deviations.append(_deviation(totals.whole, n_pairs))
            yield _row(layer, head, n_pairs, deviations[-1]) | _named(shares[-1])
        yield _row(layer, None, n_pairs, float(np.mean(deviations))) | _named(_mean(shares))


def _row(layer: Any, head: Any, n_pairs: int, deviation: float) -> Row:
    return {"layer": layer, "head": head, "n_pairs": n_pairs, "deviation": deviation}


def _deviation(squares: float, n_pairs: int) -> float:
    return (max(squares, 0) / n_pairs) ** 0.5


def _named(shares: Float[np.ndarray, "4"]) -> Row:
    """The columns of shares of which no interval is known."""
    ends = {f"{part}_{end}": np.nan for part in PARTS for end in ("low", "high")}
    return dict(zip(PARTS, shares, strict=True)) | ends


def _shares(sums: HeadBlocks) -> Float[np.ndarray, "block 4"]:
    return score_shares(HeadTotals(**sums.planes, whole=sums.score, n_pairs=sums.n_pairs))


def _term_totals(terms: pd.DataFrame) -> TermTotals:
    """Of one head, bucket after bucket."""
    sums = {name: terms[name].to_numpy() for name in TermTotals._fields if name in SUMS}
    whole, n_pairs = float(np.sum(terms["score"])), int(terms["n_pairs"].iloc[0])
    return TermTotals(**sums, whole=whole, n_pairs=n_pairs)


def _mean(heads: list[np.ndarray]) -> np.ndarray:
    """The mean over the heads that have shares; NaN where none has."""
    found = np.array(heads)
    there = ~np.isnan(found)
    total, n = np.where(there, found, 0).sum(axis=0), there.sum(axis=0)
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
