"""Score of each head by relative position alone, and the shares of position and content in it.

Kernels have the offsets of `query_key_correlation`, within 64, however long the texts: at most
layers × heads × 129 rows. Shares count all pairs at all offsets, with one row per head.
"""

from itertools import groupby

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import Redraws
from analysis.measures.positions.score_share import PARTS, TermTotals, position_kernel, score_shares
from analysis.needs import Need
from analysis.statistics.columns import count, number
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.relative_position_profile import OFFSET
from analysis.statistics.positions.score_sums import Columns, Totals, blocks_there, head_blocks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, HEAD_OR_MEAN, LAYER, Table, interval


def _kernel_rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    offsets = store.sql(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    drawn = context.redraws(blocks_there(store))
    frames = []
    for blocks in head_blocks(store):
        of_layer = offsets["offset"][offsets["layer"] == blocks.layer].to_numpy()
        (kernel,) = _kernels(blocks.whole(), blocks.cells, of_layer)
        present = np.ones((len(drawn.units), len(of_layer)), dtype=bool)
        resampled = _kernels(blocks.drawn(drawn.weights), blocks.cells, of_layer)
        low, high = drawn.interval(resampled, present)
        columns = {"offset": of_layer, "kernel": kernel, "low": low, "high": high}
        frames.append(pd.DataFrame({"layer": blocks.layer, "head": blocks.head, **columns}))
    return rows_of(table, frames)


def _kernels(
    totals: Totals, cells: Columns, offsets: Int[np.ndarray, " offset"]
) -> Float[np.ndarray, "resample offset"]:
    """Return the kernel of each resample's own means; offsets of one bucket share its score."""
    n_pairs = totals.n_pairs[:, None]
    if isinstance(totals, TermTotals):
        first, last = (cells[name][:, None] for name in ("first_offset", "last_offset"))
        bucket = ((first <= offsets) & (offsets <= last)).argmax(axis=0)
        return ((totals.query + totals.key + totals.bias) / n_pairs)[:, bucket]
    means = totals.query / n_pairs * (totals.key / n_pairs).conj()
    return position_kernel(means, cells["frequency"], offsets)


KERNEL = Table(
    name="position_kernel",
    grain="one row per layer, head and offset within 64 that a key may have; none if no score "
    "knows an offset",
    key=(LAYER, HEAD, OFFSET),
    values=(
        number(
            "kernel",
            "the score of the mean query and the mean key: Re Σ_c E q_c conj(E k_c) e^(−iθ_c t) "
            "where they are turned, E q · P_t + E k · R_t + b_t where distances have terms",
            "score",
        ),
        *interval("score"),
    ),
    source="su-2021",
    needs=(Need.KERNELS,),
    laws=("isfinite(kernel)", "low <= high"),
    version=4,
    requires=("rotary_plane", "offset_term", "query_key_correlation"),
    made_by=_kernel_rows,
    depends_on=(),
)


_PARTS = {
    "position": "the score of the mean query and the mean key at their offset",
    "query": "what the query adds to that, whatever the key",
    "key": "what the key adds to that, whatever the query",
    "content": "what only both add, and all that no offset is in; NULL, as the others, if all keys "
    "of every query match equally",
}


def _share_rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows of every head, and of the mean over the heads of each layer."""
    drawn = context.redraws(blocks_there(store))
    rows = []
    for layer, heads in groupby(head_blocks(store), key=lambda blocks: blocks.layer):
        shares, resampled, deviations, n_pairs = [], [], [], 0
        for blocks in heads:
            totals = blocks.whole()
            shares.append(score_shares(totals)[0])
            resampled.append(score_shares(blocks.drawn(drawn.weights)))
            n_pairs = int(totals.n_pairs[0])
            deviations.append((max(totals.whole[0], 0) / n_pairs) ** 0.5)
            place = {"layer": layer, "head": blocks.head, "n_pairs": n_pairs}
            ends = _with_ends(shares[-1], resampled[-1], drawn)
            rows.append(place | {"deviation": deviations[-1]} | ends)
        place = {"layer": layer, "head": None, "n_pairs": n_pairs}
        ends = _with_ends(_mean(shares), _mean(resampled), drawn)
        rows.append(place | {"deviation": float(np.mean(deviations))} | ends)
    return rows_of(table, [pd.DataFrame(rows)] if rows else [])


def _mean(heads: list[np.ndarray]) -> np.ndarray:
    """Return the mean over the heads that have shares; NaN where none has."""
    shares = np.array(heads)
    there = ~np.isnan(shares)
    total, n = np.where(there, shares, 0).sum(axis=0), there.sum(axis=0)
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _with_ends(
    shares: Float[np.ndarray, "4"], resampled: Float[np.ndarray, "resample 4"], drawn: Redraws
) -> dict[str, float]:
    """Return the columns of the shares and of the ends of their intervals."""
    present = np.broadcast_to(~np.isnan(shares), (len(drawn.units), len(PARTS)))
    low, high = drawn.interval(resampled, present)
    columns: dict[str, float] = {}
    for part, *values in zip(PARTS, shares, low, high, strict=True):
        columns |= zip((part, f"{part}_low", f"{part}_high"), values, strict=True)
    return columns


TABLE = Table(
    name="score_share",
    grain="one row per layer and head, and for the mean over its heads; none if no score knows an "
    "offset",
    key=(LAYER, HEAD_OR_MEAN),
    values=(
        count("n_pairs", "pairs of a query and a key that are compared", "pairs"),
        number("deviation", "root mean square of a score less the mean of its row", "score"),
        *(
            number(name, f"share of the variance within rows of {meaning}", nullable=True)
            for name, meaning in _PARTS.items()
        ),
        *(end for name in PARTS for end in interval("share", of=name)),
    ),
    source="su-2021",
    needs=(Need.KERNELS,),
    laws=(
        "n_pairs > 0",
        "deviation >= 0",
        "(position is null) = (content is null)",
        'position is null or abs(position + "query" + "key" + content - 1) <= 1e-6',
        *(f"{name}_low <= {name}_high" for name in PARTS),
    ),
    version=4,
    requires=("rotary_plane", "offset_term"),
    made_by=_share_rows,
    depends_on=(),
)


_ENDS = ", ".join(f"{name}_low, {name}_high" for name in PARTS)
