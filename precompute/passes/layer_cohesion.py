"""Whether heads of one layer attend more alike than heads of different layers."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.layer_cohesion import layer_cohesion
from analysis.tables.layer_cohesion import TABLE
from precompute.head_matrix import stored_distances
from precompute.passes.base import FitContext

VERSION = 1
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer of two heads or more, and one for all."""
    distances, layers, _ = stored_distances(store)
    counted: list[int | None] = [*sorted(set(layers.tolist())), None]
    rows = []
    for layer in counted:
        found = layer_cohesion(distances, layers, layer=layer, seed=context.seed)
        if found is not None:
            rows.append({"layer": layer, **found._asdict()})
    return pa.Table.from_pylist(rows, schema=TABLE.schema)
