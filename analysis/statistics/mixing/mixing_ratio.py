"""Mixing ratio: share of context in a token against the token itself."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.scopes import OF_RATIOS
from analysis.statistics.columns import count, number
from analysis.statistics.mixing.sequence_mixing_ratio import (
    LARGEST,
    MASK_TYPE,
    MASK_TYPES,
    RATIO_SCOPE,
    SMALLEST,
)
from analysis.statistics.question import asks, placed
from analysis.statistics.table import LAYER_OR_ALL, Table, View, interval

_KEY = (LAYER_OR_ALL, RATIO_SCOPE, MASK_TYPE)
_MEAN = number(
    "mean",
    "mean mixing ratio: of a layer the unweighted mean over sequences, pooled that over tokens",
    "ratio",
)
_SPREAD = (
    number("std", "population standard deviation over tokens", "ratio"),
    SMALLEST,
    LARGEST,
    count("n", "tokens, or tokens times layers where layers are pooled", "tokens"),
)
TABLE = Table(
    name="mixing_ratio",
    grain="one row per layer, or for all pooled, scope and token type, with its interval",
    key=_KEY,
    values=(
        _MEAN,
        *interval("ratio"),
        *_SPREAD,
        count("n_sequences", "sequences that have a token of the type", "sequences"),
    ),
    source="kobayashi-2021",
    laws=(
        "min >= 0 and max <= 1 + 1e-5",
        "mean between min - 1e-9 and max + 1e-9",
        "low <= high",
        "std >= 0",
        "n >= n_sequences and n_sequences > 0",
    ),
    shown_as="mixing_ratio_interval",
    views=(
        View(
            "mixing_ratio",
            "one row per layer, or for all pooled, scope and token type",
            (*_KEY, _MEAN, *_SPREAD),
            "select layer, scope, token_type, mean, std, min, max, n from stored.mixing_ratio",
        ),
    ),
    depends_on=(),
)


@asks(f"""
    select layer, token_type, mean, low, high, std, min, max, n, n_sequences
    from mixing_ratio_interval
    where layer is not null and scope = $scope
    order by layer, {placed(MASK_TYPES, "token_type")}
""")
def by_layer(store: DuckDBPyConnection, *, scope: str) -> pd.DataFrame:
    """One scope in every layer: layer, token_type, mean, low, high, std, min, max, n,
    n_sequences."""
    ...


@asks(f"""
    select scope, token_type, mean, low, high, std, min, max, n, n_sequences
    from mixing_ratio_interval
    where layer is null
    order by {placed(OF_RATIOS, "scope")}, {placed(MASK_TYPES, "token_type")}
""")
def pooled(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every scope over all tokens and layers: scope, token_type, mean, low, high, std, min, max, n,
    n_sequences, as `OF_RATIOS` has them."""
    ...
