"""Agreement between distances of heads by weights and by norms."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.measures.heads.permutation_tests import distance_agreement, layer_parts
from analysis.statistics.columns import count, number
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance import stored_distances
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.parts import OF_HEADS, part_columns, part_laws, part_values
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, LAYER_OR_ALL, Table, nullable

_DISTANCE = "mean divergence from the other heads"


def _agreement(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of all heads, and of each; none of fewer than three heads."""
    weight, norm = (stored_distances(store, weighing=weighing) for weighing in WEIGHINGS)
    agreement = distance_agreement(weight.distances, norm.distances, seed=context.seed)
    if agreement is None:
        return rows_of(table, [])
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
    return rows_of(table, [heads, pd.DataFrame([every]).assign(layer=np.nan, head=np.nan)])


def _to_others(distances: Float[np.ndarray, "head head"]) -> Float[np.ndarray, " head"]:
    return distances.sum(axis=1) / (len(distances) - 1)


TABLE = Table(
    name="head_distance_agreement",
    grain="one row per head, of three heads or more, and one for all of them",
    key=(LAYER_OR_ALL, nullable(HEAD, "head, counted from 1; NULL: all heads of all layers")),
    values=(
        number("weight", f"{_DISTANCE} by weights", "nats"),
        number("norm", f"{_DISTANCE} by norms", "nats"),
        number(
            "spearman",
            "Spearman's ρ of the distances by weights and by norms, over the other heads or, for "
            "all heads, over all pairs; NULL where either are the same for all",
            "ρ",
            nullable=True,
        ),
        *part_columns(OF_HEADS, intervals=False),
        number(
            "same_nearest",
            "1 where the nearest head is the same by both, else 0; for all heads the share",
        ),
        number(
            "p_value",
            "share of the orders of the heads that give as large a ρ; of random orders "
            "(b + 1) / (B + 1) where b of B do; NULL for a single head",
            "probability",
            nullable=True,
        ),
        number(
            "p_within",
            "share of 9,999 orders in which heads stay in their layer that give as large a part "
            "within layers, as (b + 1) / (B + 1) where b of B do; NULL for a single head, or where "
            "nothing varies within layers",
            "probability",
            nullable=True,
        ),
        count(
            "n_permutations",
            "orders of the heads that were tried, all of them if fewer than 9,999; NULL for a "
            "single head",
            "permutations",
            nullable=True,
        ),
    ),
    source="mantel-1967",
    laws=(
        "weight >= 0 and norm >= 0",
        "spearman is null or spearman between -1 - 1e-9 and 1 + 1e-9",
        *part_laws(OF_HEADS),
        "same_nearest between 0 and 1",
        "p_within is null or p_within between 0 and 1",
        "p_value is null or p_value between 0 and 1",
    ),
    depends_on=(),
    version=2,
    requires=("head_distance",),
    made_by=_agreement,
)


@asks("from head_distance_agreement order by layer nulls last, head nulls last")
def agreement(store: DuckDBPyConnection) -> pd.DataFrame:
    """Agreement of every head, then of all (layer and head are NULL). "Within" counts pairs within
    a pair of layers, or for one head the pairs with heads of its layer."""
    ...
