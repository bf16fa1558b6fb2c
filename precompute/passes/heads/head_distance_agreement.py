"""Agreement between distances of heads by weights and by norms."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.measures.heads.distance_agreement import distance_agreement, layer_parts
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance_agreement import TABLE
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.parts import OF_HEADS, part_values
from analysis.statistics.rows import rows_of
from precompute.passes.heads.head_matrix import stored_distances

VERSION = 2
NEEDS = ("head_distance",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per head of three or more, and one for all of them."""
    weight, norm = (stored_distances(store, weighing=weighing) for weighing in WEIGHINGS)
    agreement = distance_agreement(weight.distances, norm.distances, seed=context.seed)
    if agreement is None:
        return rows_of(TABLE, [])
    parts = layer_parts(weight.distances, norm.distances, weight.layers, seed=context.seed)
    heads = pd.DataFrame(
        {
            "layer": weight.layers,
            "head": weight.heads,
            "weight": _to_others(weight.distances),
            "norm": _to_others(norm.distances),
            "spearman": agreement.of_heads,
            "same_nearest": agreement.same_nearest,
        }
    )
    heads = heads.join(pd.DataFrame([part_values(OF_HEADS, of) for of in parts.of_heads]))
    means = heads[["weight", "norm", "same_nearest"]].mean()
    every = {**means, "spearman": agreement.spearman}
    every |= {"p_within": parts.p_value, **part_values(OF_HEADS, parts.parts)}
    every |= {"p_value": agreement.p_value, "n_permutations": agreement.n_permutations}
    return rows_of(TABLE, [heads, pd.DataFrame([every]).assign(layer=np.nan, head=np.nan)])


def _to_others(distances: Float[np.ndarray, "head head"]) -> Float[np.ndarray, " head"]:
    return distances.sum(axis=1) / (len(distances) - 1)
