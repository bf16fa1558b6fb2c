"""Distances between heads of one layer compared with those between layers."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.heads.permutation_tests import layer_cohesion
from analysis.statistics.columns import count, number
from analysis.statistics.fit import FitContext
from analysis.statistics.heads.head_distance import stored_distances
from analysis.statistics.norms.weighing import (
    WEIGHING,
    WEIGHINGS,
    WEIGHT,
    of_weights,
    one_weighing,
)
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


def _cohesion(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the rows of both weighings: of layers with two heads or more, and of all."""
    rows = []
    for weighing in WEIGHINGS:
        distances, layers, _ = stored_distances(store, weighing=weighing)
        counted: list[int | None] = [*sorted(set(layers.tolist())), None]
        for layer in counted:
            cohesion = layer_cohesion(distances, layers, layer=layer, seed=context.seed)
            if cohesion is not None:
                rows.append({"weighing": weighing, "layer": layer, **cohesion._asdict()})
    return pa.Table.from_pylist(rows, schema=table.schema)


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
    version=2,
    requires=("head_distance",),
    made_by=_cohesion,
)


@asks(one_weighing("layer_cohesion", order="layer nulls last"))
def cohesion(store: DuckDBPyConnection, *, weighing: str = WEIGHT) -> pd.DataFrame:
    """Every layer, then all (layer is NULL): layer, within, between, difference, p_value,
    n_permutations."""
    ...
