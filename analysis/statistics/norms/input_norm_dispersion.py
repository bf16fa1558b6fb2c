"""Variation of ‖x‖ from token to token."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.norms.dispersion import DISPERSION, DISPERSION_LAWS
from analysis.statistics.question import frame_of
from analysis.statistics.table import LAYER_OR_ALL, Table

TABLE = Table(
    name="input_norm_dispersion",
    grain="one row per layer, and one for all layers pooled; all tokens, special ones included",
    key=(LAYER_OR_ALL,),
    values=DISPERSION,
    source="kobayashi-2020",
    laws=DISPERSION_LAWS,
    depends_on=(),
)


def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """All layers, and every layer: layer (NULL: all), n, mean, std, cv, min, max."""
    return frame_of(store, "from input_norm_dispersion order by layer nulls last")
