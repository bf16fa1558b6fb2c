"""Mixing ratio of each layer and scope, by sequence."""

from dataclasses import replace

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.statistics.columns import named, number, whole
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, SCOPE, SEQUENCE, Table

MASK_TYPES = ("bos", "first", "cls", "sep", "mask", "other", "all")
MASK_TYPE = named("token_type", "bos, first, cls, sep, mask, other (commas and periods too) or all")
RATIO_SCOPE = replace(
    SCOPE,
    meaning=f"{SCOPE.meaning}; {WEIGHTS_WITH_RESIDUAL}: half the weights, half the token itself",
)
SMALLEST = number("min", "smallest", "ratio")
LARGEST = number("max", "largest", "ratio")
TABLE = Table(
    name="sequence_mixing_ratio",
    grain="one row per sequence, layer, scope and token type that the sequence has",
    key=(SEQUENCE, LAYER, RATIO_SCOPE, MASK_TYPE),
    values=(
        whole("n", "tokens of the type", "tokens"),
        number("mean", "mean mixing ratio of the tokens", "ratio"),
        number("m2", "squared distances from the mean, summed", "squared ratio"),
        SMALLEST,
        LARGEST,
    ),
    source="kobayashi-2021",
    laws=(
        "n > 0",
        "min >= 0 and max <= 1 + 1e-5",
        "m2 >= 0",
        "mean between min - 1e-9 and max + 1e-9",
    ),
    order=("layer", "scope", "token_type", "seq"),
    depends_on=(Setting.GATE_RULE,),
)


@asks(f"""
    select seq, scope as name, avg(mean)::double as value
    from sequence_mixing_ratio
    where token_type = 'all' and scope <> '{WEIGHTS_WITH_RESIDUAL}'
    group by all order by all
""")
def by_sequence(store: DuckDBPyConnection) -> pd.DataFrame:
    """Mean over layers by sequence and scope: seq, name, value. Weights with residual have no row:
    their ratio is half that of the weights."""
    ...
