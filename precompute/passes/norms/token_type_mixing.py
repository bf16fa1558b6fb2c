"""Attention, norm and weighted norm by token type and head: means over sequences with intervals."""

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float

from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, block_sizes, by_block, make_table
from analysis.statistics.norms.token_type_mixing import QUANTITIES, TABLE
from analysis.statistics.rows import rows_of

VERSION = 1
NEEDS = ("head_token",)
_BY_HEAD = """
    select seq, head, token_type,
        sum(attention_received::double) / any_value(n_tokens) as attention,
        avg(value_norm::double) as value_norm,
        sum(attention_received::double * value_norm) / any_value(n_tokens) as weighted_norm
    from head_token
    join sequence using (seq)
    where layer = $layer
    group by seq, head, token_type
"""
_OF_HEADS = f"unpivot by_head on {', '.join(QUANTITIES)} into name quantity value mean"
_OF_LAYER = f"select seq, token_type, quantity, avg(mean) as mean from ({_OF_HEADS}) group by all"
_WAYS = ((_OF_HEADS, ["head", "token_type", "quantity"]), (_OF_LAYER, ["token_type", "quantity"]))


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, head (or their mean), token type and quantity."""
    layers = store.execute("select distinct layer from head_token order by layer").fetchall()
    sizes = block_sizes(store, "select seq from sequence")
    frames = []
    for (layer,) in layers:
        make_table(store, "by_head", _BY_HEAD, {"layer": layer})
        levels = [by_block(store, query, cell=cell) for query, cell in _WAYS]
        frames += [_means(sums, sizes, context).assign(layer=layer) for sums in levels]
    return rows_of(TABLE, frames)


def _means(
    sums: BlockSums, sizes: Float[np.ndarray, " block"], context: FitContext
) -> pd.DataFrame:
    """Means of one layer; a sequence without a token type has no norm of it, and gives it 0."""
    is_sum = (sums.cells["quantity"] != "value_norm").to_numpy()
    means = sums.absent_as_zero(sizes, is_sum).with_intervals(context)
    return means.assign(n_sequences=int(sizes.sum()), n_present=sums.counts.sum(axis=0))
