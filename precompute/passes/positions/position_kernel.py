"""The score that each head gives to every offset that it compares, by position alone."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.position_kernel import position_kernel
from analysis.tables.positions.position_kernel import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import rows_of

VERSION = 1
NEEDS = ("rotary_plane", "query_key_correlation")


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head and offset."""
    planes = store.execute("from rotary_plane").df()
    offsets = store.execute(
        'select layer, "offset" from query_key_correlation_mean where head = 1 order by all'
    ).df()
    frames = []
    for layer, of_layer in planes.groupby("layer"):
        own = offsets["offset"][offsets["layer"] == layer].to_numpy()
        means = of_layer["strength"] * np.exp(1j * of_layer["phase"].fillna(0))
        wide = of_layer.assign(mean=means).pivot(index="head", columns="plane")
        kernel = position_kernel(wide["mean"].to_numpy(), wide["frequency"].to_numpy(), own)
        head, offset = np.indices(kernel.shape).reshape(2, -1)
        place = {"layer": layer, "head": wide.index.to_numpy()[head], "offset": own[offset]}
        frames.append(pd.DataFrame(place | {"kernel": kernel.ravel()}))
    return rows_of(TABLE, frames)
