"""Attention weight, norm, weighted norm and share of norms by type of attended token."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float
from numpy import ndarray

from analysis.needs import Need
from analysis.statistics.columns import count, number, quantity
from analysis.statistics.fit import FitContext
from analysis.statistics.means import BlockSums, block_sizes, by_block, make_table
from analysis.statistics.question import asks
from analysis.statistics.rows import rows_of
from analysis.statistics.table import (
    HEAD_OR_MEAN,
    LAYER,
    N_SEQUENCES,
    TOKEN_TYPE,
    Column,
    Table,
    View,
    interval,
)

_KEY = (LAYER, HEAD_OR_MEAN, TOKEN_TYPE)
_IN_WIDE_VIEW = {
    "attention": ("α summed over the tokens of the type, mean over queries", "share"),
    "value_norm": ("mean ‖f(x)‖ of the tokens of the type, in sequences with any", "stream length"),
    "weighted_norm": (
        "‖αf(x)‖ summed over the tokens of the type, mean over queries",
        "stream length",
    ),
}
_MEANS = tuple(Column(name, pa.float64(), *rest) for name, rest in _IN_WIDE_VIEW.items())
QUANTITIES = _IN_WIDE_VIEW | {
    "norm_share": (
        "share of ‖αf(x)‖ that the tokens of the type bring, every query's row scaled to a sum of "
        "1, mean over queries",
        "share",
    ),
}

_EACH = "; ".join(f"{name}: {meaning}" for name, (meaning, _) in QUANTITIES.items())
_SUMMED = [number(name, *rest) for name, rest in QUANTITIES.items()]
_LONG_KEY = (*_KEY, quantity(QUANTITIES, _SUMMED, meaning=_EACH))
_INTERVALS = (
    number("mean", "unweighted mean over sequences", "share or stream length"),
    *interval("as the mean"),
    N_SEQUENCES,
    count("n_present", "sequences that have a token of the type", "sequences"),
)
_BY_HEAD = """
    select seq, head, token_type,
        sum(attention_received::double) / any_value(n_tokens) as attention,
        avg(value_norm::double) as value_norm,
        sum(attention_received::double * value_norm) / any_value(n_tokens) as weighted_norm,
        sum(norm_share_received::double) / any_value(n_tokens) as norm_share
    from stored.head_token
    join sequence using (seq)
    where layer = $layer
    group by seq, head, token_type
"""
_OF_HEADS = f"unpivot by_head on {', '.join(QUANTITIES)} into name quantity value mean"
_OF_LAYER = f"select seq, token_type, quantity, avg(mean) as mean from ({_OF_HEADS}) group by all"
_LEVELS = ((_OF_HEADS, ["head", "token_type", "quantity"]), (_OF_LAYER, ["token_type", "quantity"]))


def _mixing(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return means over sequences with intervals, one layer at a time."""
    layers = store.execute("select distinct layer from head_token order by layer").fetchall()
    sizes = block_sizes(store, "select seq from sequence")
    frames = []
    for (layer,) in layers:
        make_table(store, "by_head", _BY_HEAD, {"layer": layer})
        levels = [by_block(store, query, cell=cell) for query, cell in _LEVELS]
        frames += [_means(sums, sizes, context).assign(layer=layer) for sums in levels]
    return rows_of(table, frames)


def _means(sums: BlockSums, sizes: Float[ndarray, " block"], context: FitContext) -> pd.DataFrame:
    """Means of one layer; a sequence without a token type has no norm of it, and gives it 0."""
    is_sum = (sums.cells["quantity"] != "value_norm").to_numpy()
    means = sums.absent_as_zero(sizes, is_sum).with_intervals(context)
    return means.assign(n_sequences=int(sizes.sum()), n_present=sums.counts.sum(axis=0))


TABLE = Table(
    name="token_type_mixing",
    grain="one row per layer, head (or their mean), token type and quantity",
    key=_LONG_KEY,
    values=_INTERVALS,
    source="kobayashi-2020",
    laws=(
        "mean >= 0",
        "low <= high",
        "quantity not in ('attention', 'norm_share') or mean <= 1 + 1e-4",
        "n_present > 0 and n_present <= n_sequences",
    ),
    views=(
        View(
            "token_type_mixing",
            "one row per layer, head (or their mean) and token type; means over sequences",
            (*_KEY, *_MEANS, N_SEQUENCES),
            """
            select layer, head, token_type,
                max(mean) filter (quantity = 'attention') as attention,
                max(mean) filter (quantity = 'value_norm') as value_norm,
                max(mean) filter (quantity = 'weighted_norm') as weighted_norm,
                max(n_sequences) as n_sequences
            from stored.token_type_mixing
            group by layer, head, token_type
            """,
        ),
        View(
            "token_type_interval",
            "one row per layer, head (or their mean), token type and quantity, with its interval",
            (*_LONG_KEY, *_INTERVALS),
            "from stored.token_type_mixing",
        ),
    ),
    depends_on=(),
    version=2,
    needs=(Need.OWN_VECTORS,),
    requires=("head_token",),
    made_by=_mixing,
)


@asks("""
    select layer, token_type, quantity, mean, low, high, n_present
    from token_type_interval
    where head is not distinct from $head
    order by layer, token_type, quantity
""")
def by_layer(store: DuckDBPyConnection, *, head: int | None = None) -> pd.DataFrame:
    """Means by layer and type, of one head of every layer or of all its heads: layer, token_type,
    quantity, mean, low, high, n_present."""
    ...
