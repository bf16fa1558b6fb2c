"""The score that each head gives to every offset that it compares, by position alone."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.position_kernel import position_kernel
from analysis.tables.positions.position_kernel import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 2
NEEDS = ("rotary_plane", "offset_term", "query_key_correlation")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head and offset."""
    offsets = store.execute(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    return rows_of(TABLE, [*_of_planes(store, offsets), *_of_terms(store)])


def _of_planes(store: DuckDBPyConnection, offsets: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Of layers that turn their queries and keys."""
    for layer, of_layer in store.execute("from rotary_plane").df().groupby("layer"):
        own = offsets["offset"][offsets["layer"] == layer].to_numpy()
        means = of_layer["strength"] * np.exp(1j * of_layer["phase"].fillna(0))
        wide = of_layer.assign(mean=means).pivot(index="head", columns="plane")
        kernel = position_kernel(wide["mean"].to_numpy(), wide["frequency"].to_numpy(), own)
        head, offset = np.indices(kernel.shape).reshape(2, -1)
        place = {"layer": layer, "head": wide.index.to_numpy()[head], "offset": own[offset]}
        yield pd.DataFrame(place | {"kernel": kernel.ravel()})


def _of_terms(store: DuckDBPyConnection) -> list[pd.DataFrame]:
    """Of layers whose scores have terms of offsets: all offsets of a bucket have its score."""
    found = store.execute(
        """
        select terms.layer, terms.head, sums."offset", ("query" + "key" + bias) / n_pairs as kernel
        from stored.offset_term as terms
        join query_key_correlation_mean as sums
        on sums.layer = terms.layer and sums.head = terms.head
            and sums."offset" between first_offset and last_offset
        """
    ).df()
    return [found] if len(found) else []
