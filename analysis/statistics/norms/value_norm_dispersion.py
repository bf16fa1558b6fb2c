"""Variation of ‖f(x)‖ from token to token."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.norms.dispersion import DISPERSION, DISPERSION_LAWS
from analysis.statistics.question import frame_of
from analysis.statistics.table import HEAD_OR_ALL, LAYER_OR_ALL, Table

TABLE = Table(
    name="value_norm_dispersion",
    grain="one row per layer and head, and one for all heads pooled; all tokens, special ones too",
    key=(LAYER_OR_ALL, HEAD_OR_ALL),
    values=DISPERSION,
    source="kobayashi-2020",
    laws=DISPERSION_LAWS,
    depends_on=(),
)


def by_head(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every head, and all pooled: layer, head (both NULL: pooled), n, mean, std, cv, min, max."""
    return frame_of(store, "from value_norm_dispersion order by layer nulls last, head")


def beside_inputs(store: DuckDBPyConnection) -> pd.Series:
    """Coefficients of variation within heads and within inputs of layers, without differences
    between heads or layers: their means `values` and `inputs`; in `n_above` of `n_heads` heads that
    of the head exceeds that of its layer's input."""
    sql = """
        select avg(heads.cv) as values, avg(inputs.cv) as inputs,
            count(*) filter (heads.cv > inputs.cv) as n_above, count(*) as n_heads
        from value_norm_dispersion as heads
        join input_norm_dispersion as inputs using (layer)
        where heads.cv is not null and inputs.cv is not null
    """
    return frame_of(store, sql).iloc[0]
