"""The score that each head gives to every offset that it compares, by position alone."""

from collections.abc import Iterator

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

VERSION = 3
NEEDS = ("rotary_plane", "offset_term", "query_key_correlation")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head and offset; without intervals where scores have terms of offsets."""
    return rows_of(TABLE, [*_of_planes(store, context), *_of_terms(store)])


def _of_planes(store: DuckDBPyConnection, context: FitContext) -> Iterator[pd.DataFrame]:
    """Of layers that turn their queries and keys."""
    offsets = store.execute(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    drawn = context.redraws(blocks_there(store))
    for each in head_blocks(store):
        own = offsets["offset"][offsets["layer"] == each.layer].to_numpy()
        (kernel,) = _kernels(each.whole(), own)
        present = np.ones((len(each.n_pairs), len(own)), dtype=bool)
        low, high = drawn.interval(_kernels(each.drawn(drawn.weights), own), present)
        found = {"offset": own, "kernel": kernel, "low": low, "high": high}
        yield pd.DataFrame({"layer": each.layer, "head": each.head, **found})


def _kernels(
    sums: HeadBlocks, offsets: Int[np.ndarray, " offset"]
) -> Float[np.ndarray, "block offset"]:
    """The kernel that each block's own means make."""
    query, key = (sums.planes[side] / sums.n_pairs[:, None] for side in ("query", "key"))
    means = query * key.conj()
    return position_kernel(means, np.broadcast_to(sums.frequencies, means.shape), offsets)


def _of_terms(store: DuckDBPyConnection) -> list[pd.DataFrame]:
    """Of layers whose scores have terms of offsets: all offsets of a bucket have its score."""
    found = store.execute(
        """
        select terms.layer, terms.head, sums."offset", ("query" + "key" + bias) / n_pairs as kernel,
            null::double as low, null::double as high
        from stored.offset_term as terms
        join query_key_correlation_mean as sums
        on sums.layer = terms.layer and sums.head = terms.head
            and sums."offset" between first_offset and last_offset
        """
    ).df()
    return [found] if len(found) else []
