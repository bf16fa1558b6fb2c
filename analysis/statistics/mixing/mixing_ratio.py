"""Mixing ratio: share of context in a token against the token itself, and frequency of the word."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.scopes import OF_RATIOS, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.base import columns as declared
from analysis.statistics.base.correlations import with_frequency
from analysis.statistics.columns import count, named, number, single, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.means import by_block, means
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    LAYER,
    LAYER_OR_ALL,
    POSITION,
    SCOPE,
    SEQUENCE,
    Table,
    View,
    interval,
)

MASK_TYPES = ("bos", "first", "cls", "sep", "mask", "other", "all")
MASK_TYPE = named("token_type", "bos, first, cls, sep, mask, other (commas and periods too) or all")
RATIO_SCOPE = replace(
    SCOPE,
    meaning=f"{SCOPE.meaning}; {WEIGHTS_WITH_RESIDUAL}: half the weights, half the token itself",
)
_SMALLEST = number("min", "smallest", "ratio")
_LARGEST = number("max", "largest", "ratio")
PER_SEQUENCE = Table(
    name="sequence_mixing_ratio",
    grain="one row per sequence, layer, scope and token type that the sequence has",
    key=(SEQUENCE, LAYER, RATIO_SCOPE, MASK_TYPE),
    values=(
        whole("n", "tokens of the type", "tokens"),
        number("mean", "mean mixing ratio of the tokens", "ratio"),
        number("m2", "squared distances from the mean, summed", "squared ratio"),
        _SMALLEST,
        _LARGEST,
    ),
    source="kobayashi-2021",
    version=3,
    requires=("layer_completeness",),
    laws=(
        "n > 0",
        "min >= 0 and max <= 1 + 1e-5",
        "m2 >= 0",
        "mean between min - 1e-9 and max + 1e-9",
    ),
    order=("layer", "scope", "token_type", "seq"),
    depends_on=(),
)
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


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per scope and token type, for every layer and for all pooled."""
    spreads = store.execute(_SPREADS).df()
    layers = store.execute("select distinct layer from sequence_mixing_ratio order by 1")
    levels = [
        means(store, _OF_LAYER, context, cell=_CELL, asked={"layer": layer}).assign(layer=layer)
        for (layer,) in layers.fetchall()
    ]
    levels.append(_pooled(store, context))
    return rows_of(table, [level.merge(spreads, on=["layer", *_CELL]) for level in levels])


def _pooled(store: DuckDBPyConnection, context: FitContext) -> pd.DataFrame:
    """Over all tokens and layers: sequences weigh by their tokens."""
    totals = by_block(store, _TOKENS, cell=_CELL, value="total")
    tokens = by_block(store, _COUNTS, cell=_CELL, value="n").sums
    n_sequences = store.execute(_SEQUENCES).df()
    pooled = replace(totals, counts=tokens).with_intervals(context).drop(columns="n_sequences")
    return pooled.merge(n_sequences, on=_CELL).assign(layer=np.nan)


_KEY = (LAYER_OR_ALL, RATIO_SCOPE, MASK_TYPE)
_MEAN = number(
    "mean",
    "mean mixing ratio: of a layer the unweighted mean over sequences, pooled that over tokens",
    "ratio",
)
_SPREAD = (
    number("std", "population standard deviation over tokens", "ratio"),
    _SMALLEST,
    _LARGEST,
    count("n", "tokens, or tokens times layers where layers are pooled", "tokens"),
)
TABLE = Table(
    name="mixing_ratio",
    grain="one row per layer, or for all pooled, scope and token type, with its interval",
    key=_KEY,
    values=(
        _MEAN,
        *interval("ratio"),
        *_SPREAD,
        count("n_sequences", "sequences that have a token of the type", "sequences"),
    ),
    source="kobayashi-2021",
    version=2,
    requires=("sequence_mixing_ratio",),
    made_by=_rows,
    laws=(
        "min >= 0 and max <= 1 + 1e-5",
        "mean between min - 1e-9 and max + 1e-9",
        "low <= high",
        "std >= 0",
        "n >= n_sequences and n_sequences > 0",
    ),
    shown_as="mixing_ratio_interval",
    views=(
        View(
            "mixing_ratio",
            "one row per layer, or for all pooled, scope and token type",
            (*_KEY, _MEAN, *_SPREAD),
            "select layer, scope, token_type, mean, std, min, max, n from stored.mixing_ratio",
        ),
    ),
    depends_on=(),
)


PER_TOKEN = Table(
    name="token_mixing_ratio",
    grain="one row per token and scope",
    key=(SEQUENCE, POSITION, RATIO_SCOPE),
    values=(single("mean", "mixing ratio of the token, mean over layers", "ratio"),),
    source="kobayashi-2021",
    requires=("layer_completeness",),
    needs=(Need.FREQUENCY,),
    laws=("mean >= 0 and mean <= 1 + 1e-5",),
    raw_rows=True,
    order=("scope", "seq", "pos"),
    depends_on=(),
)
FREQUENCY_CORRELATION = with_frequency(
    "ratio_frequency_correlation",
    of=PER_TOKEN,
    rows="token_mixing_ratio join token using (seq, pos)",
    key=declared.named(RATIO_SCOPE.meaning, (), name="scope"),
    values={
        scope: declared.ratio("mixing ratio", sql=f"max(mean) filter (scope = '{scope}')")
        for scope in OF_RATIOS
    },
    version=2,
)
