"""Every occurrence of the pairs that lists show first."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.fit import FitContext, from_query
from analysis.statistics.pairs.pair_delta import top
from analysis.statistics.pairs.pair_extreme import MIN_COUNTS
from analysis.statistics.pairs.pair_occurrence import LIMIT, TABLE

VERSION = 1
NEEDS = ("pair_delta", "pair", "pair_extreme")
_WAYS = list(product((True, False), MIN_COUNTS, (True, False)))


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, effect and occurrence of a pair that is in one of their lists, in the
    sequences whose text the file keeps."""
    effects = tuple(context.order.effects)
    lists = (_pairs(store, effect, *options) for effect, options in product(effects, _WAYS))
    store.register("listed", pd.concat(lists).drop_duplicates())
    deltas = " ".join(f"when '{effect}' then {effect}" for effect in effects)
    rows = from_query(
        TABLE,
        store,
        f"""
        select layer, effect, source, target, seq, source_pos, target_pos,
            case effect {deltas} end as delta
        from pair_delta_shards
        join listed using (layer, source, target)
        semi join texts using (seq)
        """,
    )
    store.unregister("listed")
    return rows


def _pairs(
    store: DuckDBPyConnection, effect: str, amplified: bool, min_count: int, special: bool
) -> pd.DataFrame:
    """layer, source, target, effect of the lists of every layer."""
    pairs = top(
        store,
        effect=effect,
        amplified=amplified,
        layer=None,
        min_count=min_count,
        limit=LIMIT,
        special=special,
        rank="mean",
    )
    ids = pairs[["layer", "source_id", "target_id"]]
    return ids.set_axis(["layer", "source", "target"], axis=1).assign(effect=effect)
