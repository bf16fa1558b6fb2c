"""Mixing ratios by scope and token type, per layer and pooled, with intervals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.means import by_block, means
from analysis.statistics.mixing.mixing_ratio import TABLE
from analysis.statistics.rows import rows_of

VERSION = 2
NEEDS = ("sequence_mixing_ratio",)
_CELL = ["scope", "token_type"]
_SPREADS = """
    with whole as (
        select layer, scope, token_type, sum(n)::bigint as n, sum(n * mean) / sum(n) as centre,
            min(min) as min, max(max) as max
        from sequence_mixing_ratio
        group by grouping sets ((layer, scope, token_type), (scope, token_type))
    )
    select whole.layer, scope, token_type, any_value(whole.n) as n,
        any_value(whole.min) as min, any_value(whole.max) as max,
        sqrt(sum(part.m2 + part.n * (part.mean - centre) ** 2) / any_value(whole.n)) as std
    from whole
    join sequence_mixing_ratio as part using (scope, token_type)
    where whole.layer is null or whole.layer = part.layer
    group by whole.layer, scope, token_type
"""
_OF_LAYER = "select seq, scope, token_type, mean from sequence_mixing_ratio where layer = $layer"
_SEQUENCES = """
    select scope, token_type, count(distinct seq) as n_sequences
    from sequence_mixing_ratio
    group by scope, token_type
"""
_TOKENS = "select seq, scope, token_type, n * mean as total from sequence_mixing_ratio"
_COUNTS = "select seq, scope, token_type, n from sequence_mixing_ratio"


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per scope and token type, for every layer and for all pooled."""
    spreads = store.execute(_SPREADS).df()
    layers = store.execute("select distinct layer from sequence_mixing_ratio order by 1")
    levels = [
        means(store, _OF_LAYER, context, cell=_CELL, asked={"layer": layer}).assign(layer=layer)
        for (layer,) in layers.fetchall()
    ]
    levels.append(_pooled(store, context))
    return rows_of(TABLE, [level.merge(spreads, on=["layer", *_CELL]) for level in levels])


def _pooled(store: DuckDBPyConnection, context: FitContext) -> pd.DataFrame:
    """Over all tokens and layers: sequences weigh by their tokens."""
    totals = by_block(store, _TOKENS, cell=_CELL, value="total")
    tokens = by_block(store, _COUNTS, cell=_CELL, value="n").sums
    n_sequences = store.execute(_SEQUENCES).df()
    pooled = replace(totals, counts=tokens).with_intervals(context).drop(columns="n_sequences")
    return pooled.merge(n_sequences, on=_CELL).assign(layer=np.nan)
