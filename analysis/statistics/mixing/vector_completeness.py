"""Errors of vector rollout: sum of all vectors against the model's own hidden states."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Setting
from analysis.statistics.columns import single
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, SEQUENCE, Table

TABLE = Table(
    name="vector_completeness",
    grain="one row per followed sequence and layer",
    key=(SEQUENCE, LAYER),
    values=(
        single(
            "relative_error",
            "largest distance of a token after the layer from the sum of the vectors that make it "
            "up, over the length of the token's own vector",
            "ratio",
        ),
        single(
            "bias_share",
            "length of what no token of the input sent, over the lengths of all that makes up a "
            "token after the layer, mean over tokens",
        ),
    ),
    source="modarressi-2023",
    round_off=("relative_error",),
    laws=("relative_error >= 0", "bias_share between 0 and 1"),
    depends_on=(Setting.GATE_RULE,),
)


@asks("""
    select layer, max(relative_error)::double as error, arg_max(seq, relative_error) as seq,
        avg(bias_share::double) as bias, count(*) as n_sequences
    from vector_completeness
    group by layer
    order by layer
""")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """Largest error and bias share of every layer: layer, error, seq, bias, n_sequences."""
    ...
