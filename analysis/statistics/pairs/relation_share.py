"""Between which kinds of tokens a step changes the mixing."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.scopes import RELATIONS
from analysis.statistics.columns import named, number
from analysis.statistics.question import asks, placed
from analysis.statistics.table import EFFECT, LAYER, N_SEQUENCES, RELATION, Table, interval

QUANTITIES = ("pairs", "before", "change", "gain", "loss")
BASELINE = "before"
"""The quantity that shares of change are compared with."""

TABLE = Table(
    name="relation_share",
    grain="one row per layer, effect, relation and quantity",
    key=(
        LAYER,
        EFFECT,
        RELATION,
        named(
            "quantity",
            "pairs (how many there are), before (the mixing before the step), change (|δ|), gain "
            "(δ above 0) or loss (δ below 0)",
        ),
    ),
    values=(
        number("mean", "mean over sequences of the relation's share of the sequence's total"),
        *interval("share"),
        N_SEQUENCES,
        number(
            "ratio",
            "mean over the mean share of the mixing before in the same sequences; NULL for pairs "
            "and before, and where there is no mixing before",
            "ratio",
            nullable=True,
        ),
        *interval("ratio", of="ratio"),
    ),
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=(
        "mean between 0 and 1 + 1e-9",
        "low <= high",
        "n_sequences > 0",
        "ratio is null or (ratio >= 0 and quantity not in ('pairs', 'before'))",
        "(ratio_low is null) = (ratio_high is null)",
        "ratio_low is null or (ratio is not null and ratio_low <= ratio_high)",
    ),
    depends_on=(),
)


@asks(f"""
    select layer, relation, quantity, mean, low, high, n_sequences, ratio, ratio_low, ratio_high
    from relation_share
    where effect = $effect
    order by layer, {placed(RELATIONS, "relation")}, {placed(QUANTITIES, "quantity")}
""")
def by_layer(store: DuckDBPyConnection, *, effect: str) -> pd.DataFrame:
    """One effect in every layer: layer, relation, quantity, mean, low, high, n_sequences, ratios.

    The shares of the relations add up to 1 in each layer and quantity. A relation with a larger
    share of the change than of the mixing before the step is where the step acts. Its share of the
    pairs is no baseline, since attention has selected pairs already.
    """
    ...
