"""Norm of each token's input vector, and variation of ‖f(x)‖ and of ‖x‖ from token to token."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.base.columns import HEAD, LAYER, POS, SEQ, length
from analysis.statistics.base.means import dispersion
from analysis.statistics.base.tables import Table
from analysis.statistics.norms import head_token
from analysis.statistics.question import asks, frame_of

PER_TOKEN = Table(
    "token_norm",
    key=(LAYER, SEQ, POS),
    source="kobayashi-2020",
    values={"input_norm": length("‖x‖ of the token as the layer reads it")},
)
VALUE_NORM = dispersion(
    "value_norm_dispersion",
    of=head_token.TABLE,
    value="value_norm",
    by=(LAYER, HEAD),
    n="tokens, or tokens times heads where heads are pooled",
    note="all tokens, special ones too",
)
INPUT_NORM = dispersion(
    "input_norm_dispersion",
    of=PER_TOKEN,
    value="input_norm",
    by=(LAYER,),
    n="tokens, or tokens times layers where layers are pooled",
    note="all tokens, special ones too",
)


@asks("from value_norm_dispersion order by layer nulls last, head")
def by_head(store: DuckDBPyConnection) -> pd.DataFrame:
    """‖f(x)‖ of every head, and of all pooled: layer, head (both NULL: pooled), n, mean, std, cv,
    min, max."""
    ...


@asks("from input_norm_dispersion order by layer nulls last")
def by_layer(store: DuckDBPyConnection) -> pd.DataFrame:
    """‖x‖ of every layer, and of all: layer (NULL: all), n, mean, std, cv, min, max."""
    ...


def values_and_inputs(store: DuckDBPyConnection) -> pd.Series:
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
