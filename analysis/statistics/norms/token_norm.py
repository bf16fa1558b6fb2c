"""Norm of each token's input vector, by layer."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import single
from analysis.statistics.question import asks
from analysis.statistics.table import LAYER, POSITION, SEQUENCE, Table

TABLE = Table(
    name="token_norm",
    grain="one row per token and layer",
    key=(SEQUENCE, POSITION, LAYER),
    values=(single("input_norm", "‖x‖ of the token as the layer reads it", "stream length"),),
    source="kobayashi-2020",
    laws=("input_norm >= 0", "not isnan(input_norm)"),
    raw_rows=True,
    order=("layer", "seq", "pos"),
    depends_on=(),
)


@asks("""
    select seq, 'input_norm' as name, avg(input_norm)::double as value
    from token_norm group by seq order by seq
""")
def by_sequence(store: DuckDBPyConnection) -> pd.DataFrame:
    """The mean over tokens and layers of every sequence: seq, name, value."""
    ...
