"""Distances between heads of one layer compared with those between layers."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import count, number
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights, one_weighing
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER_OR_ALL, Table

_DIVERGENCE = "mean over them of the mean divergence"
_VALUES = (
    number("within", f"two heads of the same layer: {_DIVERGENCE}", "nats"),
    number("between", f"a head of the layer and one of another layer: {_DIVERGENCE}", "nats"),
    number(
        "difference", "between minus within; positive where heads of a layer are more alike", "nats"
    ),
    number(
        "p_value",
        "share of the ways to deal layers to heads that give as large a difference; of random "
        "ways (b + 1) / (B + 1) where b of B do",
        "probability",
    ),
    count(
        "n_permutations",
        "ways to deal layers to heads that were tried, all of them if fewer than 9,999",
        "permutations",
    ),
)
_NAME, _GRAIN = "layer_cohesion", "one row per layer with two heads or more, and one for all layers"
TABLE = Table(
    name=_NAME,
    grain="one row per weighing and layer with two heads or more, and one for all layers",
    key=(WEIGHING, LAYER_OR_ALL),
    values=_VALUES,
    source="mantel-1967",
    laws=(
        "within >= 0 and between >= 0",
        "abs(difference - (between - within)) < 1e-9",
        "p_value > 0 and p_value <= 1",
        "n_permutations > 0",
    ),
    shown_as="layer_cohesion_weighing",
    views=(of_weights(_NAME, _GRAIN, (LAYER_OR_ALL, *_VALUES)),),
    depends_on=(),
)


@asks(one_weighing("layer_cohesion", order="layer nulls last"))
def cohesion(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Every layer, then all (layer is NULL): layer, within, between, difference, p_value,
    n_permutations."""
    ...
