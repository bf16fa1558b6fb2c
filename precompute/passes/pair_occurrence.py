"""Every occurrence of the pairs that lists show first."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.scopes import EFFECTS
from analysis.tables.pair_delta import top
from analysis.tables.pair_extreme import MIN_COUNTS
from analysis.tables.pair_occurrence import LIMIT, TABLE
from precompute.passes.base import FitContext, from_query

VERSION = 1
NEEDS = ("pair_delta", "pair", "pair_extreme")
_LISTS = list(product(EFFECTS, (True, False), MIN_COUNTS, (True, False)))


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per layer, effect and occurrence of a pair that is in one of their lists."""
    store.register("listed", pd.concat(_pairs(store, *each) for each in _LISTS).drop_duplicates())
    deltas = " ".join(f"when '{effect}' then {effect}" for effect in EFFECTS)
    rows = from_query(
        TABLE,
        store,
        f"""
        select layer, effect, source, target, seq, source_pos, target_pos,
            case effect {deltas} end as delta
        from pair_delta_shards
        join listed using (layer, source, target)
        """,
    )
    store.unregister("listed")
    return rows


def _pairs(
    store: DuckDBPyConnection, effect: str, amplified: bool, min_count: int, special: bool
) -> pd.DataFrame:
    """layer, source, target, effect of the lists of every layer."""
    found = top(
        store,
        effect=effect,
        amplified=amplified,
        layer=None,
        min_count=min_count,
        limit=LIMIT,
        special=special,
    )
    ids = found[["layer", "source_id", "target_id"]]
    return ids.set_axis(["layer", "source", "target"], axis=1).assign(effect=effect)
