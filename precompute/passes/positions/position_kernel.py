"""The score that each head gives to every offset that it compares, by position alone."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.positions.position_kernel import position_kernel
from analysis.tables.positions.position_kernel import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of
from precompute.passes.planes_by_block import HeadBlocks, blocks_there, head_blocks

VERSION = 2
NEEDS = ("rotary_plane", "query_key_correlation")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head and offset."""
    offsets = store.execute(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    drawn = context.redraws(blocks_there(store))
    frames = []
    for each in head_blocks(store):
        own = offsets["offset"][offsets["layer"] == each.layer].to_numpy()
        (kernel,) = _kernels(each.whole(), own)
        present = np.ones((len(each.n_pairs), len(own)), dtype=bool)
        low, high = drawn.interval(_kernels(each.drawn(drawn.weights), own), present)
        found = {"offset": own, "kernel": kernel, "low": low, "high": high}
        frames.append(pd.DataFrame({"layer": each.layer, "head": each.head, **found}))
    return rows_of(TABLE, frames)


def _kernels(
    sums: HeadBlocks, offsets: Int[np.ndarray, " offset"]
) -> Float[np.ndarray, "block offset"]:
    """The kernel that each block's own means make."""
    query, key = (sums.planes[side] / sums.n_pairs[:, None] for side in ("query", "key"))
    means = query * key.conj()
    return position_kernel(means, np.broadcast_to(sums.frequencies, means.shape), offsets)
