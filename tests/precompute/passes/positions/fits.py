"""Fits from shards of rotary planes or of offset terms."""

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.scopes import PRE_NORM
from analysis.statistics.fit import FitContext
from analysis.statistics.positions import offset_term, rotary_plane
from precompute.passes.positions import position_kernel, score_share

CONTEXT = FitContext(seed=0, order=PRE_NORM, frequency_ranks={})


def have_shards(store: DuckDBPyConnection, *, blocks: pd.DataFrame, **rows: object) -> None:
    """Register shards of some tables; those of the others are empty."""
    store.register("blocks", blocks)
    for table in (rotary_plane.TABLE, offset_term.TABLE):
        shards = rows.get(table.name, table.shard_schema.empty_table())
        store.register(f"{table.name}_shards", shards)


def fitted(
    name: str, rows: pd.DataFrame, offsets: Sequence[int], block: Callable[[int], int] = int
) -> tuple[Any, Any]:
    """Kernels and shares fitted to rows of shards; by default each sequence is a block."""
    seqs = sorted(rows["seq"].unique())
    blocks = pd.DataFrame({"seq": seqs, "block": list(map(block, seqs))}, dtype="int32")
    heads = rows[["layer", "head"]].drop_duplicates()
    compared = heads.merge(pd.DataFrame({"offset": offsets}), how="cross")
    with duckdb.connect() as store:
        have_shards(store, blocks=blocks, **{name: rows})
        store.register("query_key_correlation_mean", compared)
        passes = (position_kernel, score_share)
        kernels, shares = (statistic.fit(store, CONTEXT).to_pandas() for statistic in passes)
    return kernels, shares
