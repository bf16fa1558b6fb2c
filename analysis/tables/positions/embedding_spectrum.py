"""Which frequencies the learned position embeddings have."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import NAME, Column, Table

FREQUENCY = Column("frequency", pa.float64(), "frequency along positions", "cycles per 512 tokens")
TABLE = Table(
    name="embedding_spectrum",
    grain="one row per control and frequency; none if the model learns no position embeddings",
    key=(
        Column(
            "control",
            NAME,
            "kept: positions as learned; permuted: the same in one random order",
            "name",
        ),
        FREQUENCY,
    ),
    values=(
        Column("mean", pa.float64(), "mean amplitude of the columns", "amplitude"),
        Column("q25", pa.float64(), "lower quartile of the columns' amplitudes", "amplitude"),
        Column("q75", pa.float64(), "upper quartile of the columns' amplitudes", "amplitude"),
        Column("max", pa.float64(), "largest amplitude of a column", "amplitude"),
    ),
    source="yamamoto-2023",
    laws=("frequency between 0 and 256", "q25 >= 0", "q25 <= q75 and q75 <= max", "mean <= max"),
)


def spectra(store: DuckDBPyConnection) -> pd.DataFrame:
    """control, frequency, mean, q25, q75, max of the position embeddings, kept and permuted."""
    return store.execute("from embedding_spectrum order by control, frequency").df()
