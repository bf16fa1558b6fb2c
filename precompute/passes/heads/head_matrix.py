"""Distances of heads as fits read them: a matrix in the order of layers and heads."""

from typing import NamedTuple

import numpy as np
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.statistics.heads import head_distance


class HeadMatrix(NamedTuple):
    """Mean divergences of all heads, and which layer and head each row and column is."""

    distances: Float[np.ndarray, "head head"]
    layers: Int[np.ndarray, " head"]
    heads: Int[np.ndarray, " head"]


def stored_distances(store: DuckDBPyConnection, *, weighing: str) -> HeadMatrix:
    """The stored distances by weights or by norms; layers and heads count from 1."""
    frame = head_distance.distances(store, weighing=weighing)
    rows = frame.drop_duplicates(["layer_a", "head_a"])
    n = len(rows)
    return HeadMatrix(
        frame["mean_divergence"].to_numpy().reshape(n, n),
        rows["layer_a"].to_numpy(dtype=np.int64),
        rows["head_a"].to_numpy(dtype=np.int64),
    )
