"""Between which kinds of tokens a step changes the mixing."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import RELATIONS
from analysis.tables.table import (
    EFFECT,
    LAYER,
    N_SEQUENCES,
    NAME,
    RELATION,
    Column,
    Table,
    interval,
)

QUANTITIES = ("pairs", "change", "gain", "loss")
TABLE = Table(
    name="relation_share",
    grain="one row per layer, effect, relation and quantity",
    key=(
        LAYER,
        EFFECT,
        RELATION,
        Column(
            "quantity",
            NAME,
            "pairs (how many there are), change (|δ|), gain (δ above 0) or loss (δ below 0)",
            "name",
        ),
    ),
    values=(
        Column(
            "mean",
            pa.float64(),
            "mean over sequences of the relation's share of the sequence's total",
            "share",
        ),
        *interval("share"),
        N_SEQUENCES,
    ),
    source="kobayashi-2024",
    laws=("mean between 0 and 1 + 1e-9", "low <= high", "n_sequences > 0"),
)


def by_layer(store: DuckDBPyConnection, *, effect: str) -> pd.DataFrame:
    """One effect in every layer: layer, relation, quantity, mean, low, high, n_sequences.

    The shares of the relations add up to 1 in each layer and quantity; where a relation has far
    more of the change than of the pairs, the step is at work there.
    """
    return store.execute(
        """
        select layer, relation, quantity, mean, low, high, n_sequences
        from relation_share
        where effect = $effect
        order by layer, list_position($relations, relation), list_position($quantities, quantity)
        """,
        {"effect": effect, "relations": list(RELATIONS), "quantities": list(QUANTITIES)},
    ).df()
