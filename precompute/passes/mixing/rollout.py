"""Rollout by type and distance of input tokens: means over sequences with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, block_sizes, by_block
from analysis.statistics.mixing.rollout import TABLE
from analysis.statistics.rows import rows_of

VERSION = 1
NEEDS = ("sequence_rollout",)
_SHARES = """
    select seq, token_type, distance, share
    from sequence_rollout
    where layer = $layer and scope = $scope
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Rows by token type, by distance and by both, of one layer and scope after the other."""
    chosen = store.execute("select distinct layer, scope from sequence_rollout order by all")
    return rows_of(
        TABLE,
        [
            _means(store, layer, scope, context).assign(layer=layer, scope=scope)
            for layer, scope in chosen.fetchall()
        ],
    )


def _means(store: DuckDBPyConnection, layer: int, scope: str, context: FitContext) -> pd.DataFrame:
    """Sequences without tokens of a type or at a distance count with a share of 0."""
    asked = {"layer": layer, "scope": scope}
    shares = by_block(store, _SHARES, cell=["token_type", "distance"], value="share", asked=asked)
    frames, columns = [shares.cells], [shares.sums]
    for kept in shares.cells.columns:
        names, place = np.unique(shares.cells[kept], return_inverse=True)
        frames.append(pd.DataFrame({kept: names}))
        columns.append(shares.sums @ np.eye(len(names))[place])
    sums = np.concatenate(columns, axis=1)
    counts = np.repeat(block_sizes(store, _SHARES, asked)[:, None], sums.shape[1], axis=1)
    every = pd.concat(frames, ignore_index=True)
    return BlockSums(every, shares.blocks, sums, counts).with_intervals(context)
