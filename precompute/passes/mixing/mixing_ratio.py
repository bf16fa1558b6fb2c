"""Mixing ratios by scope and token type, per layer and pooled, with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.mixing.mixing_ratio import pooled_interval
from analysis.tables.mixing.mixing_ratio import TABLE
from precompute.passes.base import FitContext
from precompute.passes.intervals import by_sequence, means, rows_of

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
_POOLED = """
    select seq, scope, token_type, sum(n * mean) as total, sum(n)::double as n
    from sequence_mixing_ratio
    group by seq, scope, token_type
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per scope and token type, for every layer and for all pooled."""
    spreads = store.execute(_SPREADS).df()
    layers = store.execute("select distinct layer from sequence_mixing_ratio order by 1")
    levels = [_of_layer(store, layer, context) for (layer,) in layers.fetchall()]
    levels.append(_pooled(store, context))
    return rows_of(TABLE, [level.merge(spreads, on=["layer", *_CELL]) for level in levels])


def _of_layer(store: DuckDBPyConnection, layer: int, context: FitContext) -> pd.DataFrame:
    rows = store.execute(_OF_LAYER, {"layer": layer}).df()
    return means(rows, context, cell=_CELL).assign(layer=layer)


def _pooled(store: DuckDBPyConnection, context: FitContext) -> pd.DataFrame:
    """Over all tokens and layers: sequences weigh by their tokens."""
    rows = store.execute(_POOLED).df()
    cells, sequences, sums = by_sequence(rows, cell=_CELL, value="total")
    counts = np.nan_to_num(by_sequence(rows, cell=_CELL, value="n")[2])
    sums = np.nan_to_num(sums)
    low, high = pooled_interval(sums, counts, context.redraws(sequences))
    return cells.assign(
        layer=np.nan,
        mean=sums.sum(axis=0) / counts.sum(axis=0),
        low=low,
        high=high,
        n_sequences=(counts > 0).sum(axis=0),
    )
