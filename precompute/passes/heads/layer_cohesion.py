"""Distances between heads of one layer compared with those between layers."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.layer_cohesion import layer_cohesion
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.layer_cohesion import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from precompute.passes.heads.head_matrix import stored_distances

VERSION = 2
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per weighing and layer of two heads or more, and one for all."""
    rows = []
    for weighing in WEIGHINGS:
        distances, layers, _ = stored_distances(store, weighing=weighing)
        counted: list[int | None] = [*sorted(set(layers.tolist())), None]
        for layer in counted:
            cohesion = layer_cohesion(distances, layers, layer=layer, seed=context.seed)
            if cohesion is not None:
                rows.append({"weighing": weighing, "layer": layer, **cohesion._asdict()})
    return pa.Table.from_pylist(rows, schema=TABLE.schema)
