"""Rollout: share of the input tokens in a token after several layers."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.mixing.rollout import DISTANCES
from analysis.needs import Need
from analysis.statistics.columns import named, number, single
from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, block_sizes, by_block
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    LAYER,
    N_SEQUENCES,
    SEQUENCE,
    TOKEN_TYPE,
    Column,
    Table,
    interval,
    nullable,
)

ATTENTION_ROLLOUT = "attention_rollout"
ROLLOUT = named("scope", "the scope whose maps of one layer after the other are multiplied")
DISTANCE = Column(
    "distance",
    pa.uint8(),
    f"|i − j| from this number to below the next of {', '.join(map(str, DISTANCES))}",
    "tokens",
)
PER_SEQUENCE = Table(
    name="sequence_rollout",
    grain="one row per sequence, layer, scope, token type and distance that the sequence has",
    key=(SEQUENCE, LAYER, ROLLOUT, TOKEN_TYPE, DISTANCE),
    values=(
        single(
            "share",
            "share of a token after the layer that comes from these tokens of the model's input, "
            "mean over tokens",
        ),
    ),
    source="abnar-2020",
    needs=(Need.EVERY_LAYER,),
    requires=("layer_completeness",),
    laws=("share between 0 and 1 + 1e-4",),
    order=("layer", "scope", "token_type", "distance", "seq"),
    depends_on=(),
)
_SHARES = """
    select seq, scope, token_type, distance, share
    from sequence_rollout
    where layer = $layer
"""


def _rows(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows by token type, by distance and by both, of one layer after the other."""
    layers = store.execute("select distinct layer from sequence_rollout order by all").fetchall()
    return rows_of(
        table, [_means(store, layer, context).assign(layer=layer) for (layer,) in layers]
    )


def _means(store: DuckDBPyConnection, layer: int, context: FitContext) -> pd.DataFrame:
    """Sequences without tokens of a type or at a distance count with a share of 0."""
    asked, cell = {"layer": layer}, ["scope", "token_type", "distance"]
    shares = by_block(store, _SHARES, cell=cell, value="share", asked=asked)
    frames, columns = [shares.cells], [shares.sums]
    for kept in cell[1:]:
        groups = shares.cells.groupby(["scope", kept], observed=True)
        frames.append(groups.size().reset_index()[["scope", kept]])
        columns.append(shares.sums @ np.eye(groups.ngroups)[groups.ngroup()])
    sums = np.concatenate(columns, axis=1)
    counts = np.repeat(block_sizes(store, _SHARES, asked)[:, None], sums.shape[1], axis=1)
    every = pd.concat(frames, ignore_index=True)
    return BlockSums(every, shares.blocks, sums, counts).with_intervals(context)


OF_TOKENS = (
    nullable(
        TOKEN_TYPE, "cls, sep, comma_period, other, register, bos or first; NULL: all together"
    ),
    nullable(DISTANCE, f"{DISTANCE.meaning}; NULL: all together"),
)
SHARE = (
    number(
        "mean", "mean over sequences of the share that comes from these tokens of the model's input"
    ),
    *interval("share"),
)
TABLE = Table(
    name="rollout",
    grain="one row per layer, scope, and token type or distance or both",
    key=(LAYER, ROLLOUT, *OF_TOKENS),
    values=(*SHARE, N_SEQUENCES),
    source="abnar-2020",
    needs=(Need.EVERY_LAYER,),
    requires=("sequence_rollout",),
    made_by=_rows,
    laws=("mean between 0 and 1 + 1e-4", "low <= high", "n_sequences > 0"),
    depends_on=(),
)
