"""Distances between the attention of any two heads, and their agreement by weights and by norms."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.heads.permutation_tests import distance_agreement, layer_parts
from analysis.statistics.columns import count, number
from analysis.statistics.fit import FitContext
from analysis.statistics.parts import OF_HEADS, part_columns, part_laws, part_values
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import HEAD, LAYER, LAYER_OR_ALL, Column, Table, View, nullable
from analysis.statistics.weighing import WEIGHING, WEIGHINGS, WEIGHT, one_weighing


def _head(side: str, which: str) -> tuple[Column, Column]:
    return (
        replace(LAYER, name=f"layer_{side}", meaning=f"layer of {which} head, counted from 1"),
        replace(HEAD, name=f"head_{side}", meaning=f"{which} head within its layer, from 1"),
    )


_KEY = (*_head("a", "one"), *_head("b", "the other"))
_DIVERGENCE = number(
    "divergence",
    "Jensen–Shannon divergence of what the two heads attend to, summed over all rows of all "
    "sequences",
    "nats",
)
_N_ROWS = count(
    "n_rows",
    "rows that were compared: one per token that attends; of a long text those of evenly spaced "
    "tokens",
    "rows",
)
_MEAN = number(
    "mean_divergence",
    "Jensen–Shannon divergence of what the two heads attend to, mean over rows",
    "nats",
)
_GRAIN = "one row per two heads, in either order, and per head with itself"
TABLE = Table(
    name="head_distance",
    grain="one row per weighing and two heads, the later one second, and per head with itself; "
    "sums over sequences",
    key=(WEIGHING, *_KEY),
    values=(_DIVERGENCE, _N_ROWS),
    source="clark-2019",
    laws=(
        "layer_a < layer_b or (layer_a = layer_b and head_a <= head_b)",
        "divergence between 0 and n_rows * ln(2) * (1 + 1e-6)",
        "divergence = 0 or (layer_a, head_a) <> (layer_b, head_b)",
        "n_rows > 0",
    ),
    merge="""
        select weighing, layer_a, head_a, layer_b, head_b, sum(divergence) as divergence,
            sum(n_rows)::bigint as n_rows
        from shards
        group by weighing, layer_a, head_a, layer_b, head_b
    """,
    views=(
        View(
            "head_distance_weighing",
            "one row per weighing and two heads, in either order, and per head with itself",
            (WEIGHING, *_KEY, _DIVERGENCE, _MEAN, _N_ROWS),
            """
            with pairs as (
                from stored.head_distance
                union all
                select weighing, layer_b, head_b, layer_a, head_a, divergence, n_rows
                from stored.head_distance
                where (layer_a, head_a) <> (layer_b, head_b)
            )
            select * exclude (n_rows), divergence / n_rows as mean_divergence, n_rows
            from pairs
            order by weighing, layer_a, head_a, layer_b, head_b
            """,
        ),
        View(
            "head_distance_mean",
            _GRAIN,
            (*_KEY, _DIVERGENCE, _MEAN, _N_ROWS),
            """
            select * exclude (weighing) from head_distance_weighing
            where weighing = 'weight'
            order by layer_a, head_a, layer_b, head_b
            """,
        ),
        View(
            "head_distance",
            _GRAIN,
            (*_KEY, _DIVERGENCE),
            "select * exclude (mean_divergence, n_rows) from head_distance_mean",
        ),
    ),
    depends_on=(),
    version=3,
)


@asks(one_weighing("head_distance", order="layer_a, head_a, layer_b, head_b"))
def distances(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """The distance of every head from every head, itself included: layer_a, head_a, layer_b,
    head_b, divergence, mean_divergence, n_rows, in the order of layers and heads."""
    ...


class HeadMatrix(NamedTuple):
    """Mean divergences of all heads, and which layer and head each row and column is."""

    distances: Float[np.ndarray, "head head"]
    layers: Int[np.ndarray, " head"]
    heads: Int[np.ndarray, " head"]


def stored_distances(store: DuckDBPyConnection, *, weighing: str) -> HeadMatrix:
    """The stored distances by weights or by norms; layers and heads count from 1."""
    frame = distances(store, weighing=weighing)
    rows = frame.drop_duplicates(["layer_a", "head_a"])
    n = len(rows)
    return HeadMatrix(
        frame["mean_divergence"].to_numpy().reshape(n, n),
        rows["layer_a"].to_numpy(dtype=np.int64),
        rows["head_a"].to_numpy(dtype=np.int64),
    )


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


AGREEMENT = Table(
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
