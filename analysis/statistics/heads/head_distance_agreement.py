"""Agreement between distances of heads by weights and by norms."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import count, number
from analysis.statistics.parts import OF_HEADS, part_columns, part_laws
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER_OR_ALL, Table, nullable

_DISTANCE = "mean divergence from the other heads"
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
)


@asks("from head_distance_agreement order by layer nulls last, head nulls last")
def agreement(store: DuckDBPyConnection) -> pd.DataFrame:
    """Agreement of every head, then of all (layer and head are NULL). "Within" counts pairs within
    a pair of layers, or for one head the pairs with heads of its layer."""
    ...
