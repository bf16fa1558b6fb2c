"""Amplitude spectrum of the learned position embeddings."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import named, number
from analysis.statistics.question import frame_of
from analysis.statistics.table import Table

FREQUENCY = number("frequency", "frequency along positions", "cycles per 512 tokens")
TABLE = Table(
    name="embedding_spectrum",
    grain="one row per control and frequency; none if the model learns no position embeddings",
    key=(
        named("control", "kept: positions as learned; permuted: the same in one random order"),
        FREQUENCY,
    ),
    values=(
        number("mean", "mean amplitude of the columns", "amplitude"),
        number("q25", "lower quartile of the columns' amplitudes", "amplitude"),
        number("q75", "upper quartile of the columns' amplitudes", "amplitude"),
        number("max", "largest amplitude of a column", "amplitude"),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("frequency between 0 and 256", "q25 >= 0", "q25 <= q75 and q75 <= max", "mean <= max"),
    depends_on=(),
)


def spectra(store: DuckDBPyConnection) -> pd.DataFrame:
    """control, frequency, mean, q25, q75, max of the position embeddings, kept and permuted."""
    return frame_of(store, "from embedding_spectrum order by control, frequency")
