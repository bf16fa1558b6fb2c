"""Effect of the bias's role in the attribution of activations: similarity, mixing ratio, pairs."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.scopes import BIAS_READINGS
from analysis.statistics.columns import number
from analysis.statistics.mixing.sequence_bias_reading import READING
from analysis.statistics.question import asks, placed
from analysis.statistics.table import LAYER_OR_MEAN, N_SEQUENCES, Column, Table, interval

TOP = 10


def _same(name: str, done: str) -> Column:
    """A column for the number of top pairs that stay the same."""
    return number(
        name,
        f"of the ten pairs that are {done} most with the bias as a summand, those that are so by "
        "this reading; over layers their mean; NULL where fewer than ten occur twice",
        "pairs",
        nullable=True,
    )


TABLE = Table(
    name="bias_reading",
    grain="one row per layer, or for their mean, and reading of the bias",
    key=(LAYER_OR_MEAN, READING),
    values=(
        number(
            "similarity",
            "mean over sequences of Spearman's ρ before and after the feed-forward network",
            "ρ",
        ),
        *interval("ρ", of="similarity"),
        number(
            "mixing_ratio", "mean over sequences of the mixing ratio after the feed-forward network"
        ),
        *interval("share", of="mixing_ratio"),
        _same("same_amplified", "amplified"),
        _same("same_attenuated", "attenuated"),
        N_SEQUENCES,
    ),
    source="sundararajan-2017",
    needs=(Need.PAIRS,),
    laws=(
        "similarity between -1 - 1e-6 and 1 + 1e-6",
        "mixing_ratio between 0 and 1 + 1e-6",
        f"same_amplified between 0 and {TOP}",
        f"same_attenuated between 0 and {TOP}",
        f"reading <> 'player' or coalesce(same_amplified, {TOP}) = {TOP}",
    ),
    depends_on=(),
)


@asks(f"""
    from bias_reading
    order by layer nulls first, {placed(BIAS_READINGS, "reading")}
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every reading in the mean over the layers (NULL), then layer by layer."""
    ...
