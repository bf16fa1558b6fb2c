"""Norm of each token's input vector, and variation of ‖f(x)‖ and of ‖x‖ from token to token."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import count, number, single
from analysis.statistics.fit import query
from analysis.statistics.question import asks, frame_of
from analysis.statistics.table import HEAD_OR_ALL, LAYER, LAYER_OR_ALL, POSITION, SEQUENCE, Table

PER_TOKEN = Table(
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


DISPERSION = (
    count("n", "tokens, or tokens times heads where heads are pooled", "tokens"),
    number("mean", "mean", "stream length"),
    number("std", "population standard deviation", "stream length"),
    number("cv", "coefficient of variation, std / mean", "ratio", nullable=True),
    number("min", "smallest", "stream length"),
    number("max", "largest", "stream length"),
)
_LAWS = ("n > 0", "std >= 0", "min <= mean * (1 + 1e-9)", "mean <= max * (1 + 1e-9)")


def dispersion_query(column: str, *, source: str, key: str) -> str:
    """Return the query for the dispersion of a view's column, by key and over everything pooled."""
    return f"""
        select
            {key},
            count(*) as n,
            avg({column}::double) as mean,
            stddev_pop({column}::double) as std,
            std / nullif(mean, 0) as cv,
            min({column})::double as min,
            max({column})::double as max
        from {source}
        group by grouping sets (({key}), ())
        having count(*) > 0
        order by {key}
    """


VALUE_NORM = Table(
    name="value_norm_dispersion",
    grain="one row per layer and head, and one for all heads pooled; all tokens, special ones too",
    key=(LAYER_OR_ALL, HEAD_OR_ALL),
    values=DISPERSION,
    source="kobayashi-2020",
    laws=_LAWS,
    depends_on=(),
    needs=(Need.OWN_VECTORS,),
    requires=("head_token",),
    made_by=query(dispersion_query("value_norm", source="head_token", key="layer, head")),
)
INPUT_NORM = Table(
    name="input_norm_dispersion",
    grain="one row per layer, and one for all layers pooled; all tokens, special ones included",
    key=(LAYER_OR_ALL,),
    values=DISPERSION,
    source="kobayashi-2020",
    laws=_LAWS,
    depends_on=(),
    requires=("token_norm",),
    made_by=query(dispersion_query("input_norm", source="token_norm", key="layer")),
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
