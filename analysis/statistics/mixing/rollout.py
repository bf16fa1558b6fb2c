"""Rollout: share of the input tokens in a token after several layers."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number
from analysis.statistics.mixing.sequence_rollout import DISTANCE, ROLLOUT
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, N_SEQUENCES, TOKEN_TYPE, Table, interval, nullable

OF_TOKENS = (
    nullable(
        TOKEN_TYPE, "cls, sep, comma_period, other, register, bos or first; NULL: all together"
    ),
    nullable(DISTANCE, f"{DISTANCE.meaning}; NULL: all together"),
)
SHARE = (
    number(
        "mean", "mean over sequences of the share that comes from these tokens of the model's input"
    ),
    *interval("share"),
)
TABLE = Table(
    name="rollout",
    grain="one row per layer, scope, and token type or distance or both",
    key=(LAYER, ROLLOUT, *OF_TOKENS),
    values=(*SHARE, N_SEQUENCES),
    source="abnar-2020",
    laws=("mean between 0 and 1 + 1e-4", "low <= high", "n_sequences > 0"),
    depends_on=(),
)


@asks("""
    select layer, token_type, mean, low, high
    from rollout
    where scope = $scope and distance is null
    order by layer, token_type
""")
def by_token_type(store: DuckDBPyConnection, *, scope: str) -> pd.DataFrame:
    """Shares by type of input token: layer, token_type, mean, low, high; 1 in sum per layer."""
    ...


@asks("""
    select layer, distance, mean, low, high
    from rollout
    where scope = $scope and token_type is null
    order by layer, distance
""")
def by_distance(store: DuckDBPyConnection, *, scope: str) -> pd.DataFrame:
    """Shares by distance of input token: layer, distance, mean, low, high; 1 in sum per layer."""
    ...
