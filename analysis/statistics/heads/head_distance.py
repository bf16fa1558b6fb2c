"""Distances between the attention of any two heads."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.statistics.columns import count, number
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, one_weighing
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Column, Table, View


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


@asks("""
    select layer_b as layer, head_b as head, mean_divergence
    from head_distance_weighing
    where weighing = $weighing and layer_a = $layer and head_a = $head
        and (layer_b, head_b) <> ($layer, $head)
    order by mean_divergence, layer, head
    limit $limit
""")
def nearest(
    store: DuckDBPyConnection, *, layer: int, head: int, limit: int, weighing: str = WEIGHT
) -> pd.DataFrame:
    """The heads with the most similar attention, nearest first: layer, head, mean_divergence."""
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
