"""The score that each head gives to every offset that it compares, by position alone."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.positions.position_kernel import position_kernel
from analysis.measures.positions.score_share import TermTotals
from analysis.statistics.fit import FitContext
from analysis.statistics.positions.position_kernel import TABLE
from analysis.statistics.rows import rows_of
from precompute.passes.head_blocks import Totals, blocks_there, head_blocks

VERSION = 4
NEEDS = ("rotary_plane", "offset_term", "query_key_correlation")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head and offset."""
    offsets = store.execute(
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
    return rows_of(TABLE, frames)


def _kernels(
    totals: Totals, cells: pd.DataFrame, offsets: Int[np.ndarray, " offset"]
) -> Float[np.ndarray, "resample offset"]:
    """The kernel that each resample's own means make; offsets of one bucket share its score."""
    n_pairs = totals.n_pairs[:, None]
    if isinstance(totals, TermTotals):
        first, last = (cells[name].to_numpy()[:, None] for name in ("first_offset", "last_offset"))
        bucket = ((first <= offsets) & (offsets <= last)).argmax(axis=0)
        return ((totals.query + totals.key + totals.bias) / n_pairs)[:, bucket]
    means = totals.query / n_pairs * (totals.key / n_pairs).conj()
    frequencies = np.broadcast_to(cells["frequency"].to_numpy(), means.shape)
    return position_kernel(means, frequencies, offsets)
