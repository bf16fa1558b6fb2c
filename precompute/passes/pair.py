"""Which ordered pairs of tokens the corpus has, how they relate, and their PMI."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pair import pointwise_mutual_information
from analysis.scopes import RELATIONS
from analysis.tables.pair import TABLE
from analysis.tables.pair_merge import RELATION_COUNTS, RELATION_OF_COUNTS
from precompute.passes.base import FitContext, names_of, nulls_where, table_of

VERSION = 2
NEEDS = ("pair_delta",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per ordered pair, counted in one layer, since every layer has the same pairs."""
    pairs = store.execute(
        f"""
        select source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
            counts[relation + 1] / n as relation_share, counts[1] > 0 as has_special
        from (
            select source, target, count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences, {RELATION_COUNTS} as counts
            from pair_delta_shards
            where layer = 1
            group by source, target
        )
        """
    ).df()
    sides = {side: pairs[side].to_numpy() for side in ("source", "target")}
    n = pairs["n"].to_numpy()
    return table_of(
        TABLE,
        **sides,
        n=n,
        n_sequences=pairs["n_sequences"].to_numpy(),
        pmi=nulls_where(_pmi(n.astype(np.int64), *sides.values(), masked=_masked(store))),
        relation=names_of(pairs["relation"].to_numpy(), RELATIONS),
        relation_share=pairs["relation_share"].to_numpy(),
        has_special=pairs["has_special"].to_numpy(),
    )


def _masked(store: DuckDBPyConnection) -> list[int]:
    """The vocabulary entries that stand where something is masked."""
    found = store.execute("select distinct token_id from token where is_masked").fetchall()
    return [token_id for (token_id,) in found]


def _pmi(n: np.ndarray, source: np.ndarray, target: np.ndarray, *, masked: list[int]) -> np.ndarray:
    """PMI of every pair from how often each occurs; NaN where one of the two is masked.

    A pair with a masked place is no occurrence of any pair: it says nothing of what goes together.
    """
    is_read = ~(np.isin(source, masked) | np.isin(target, masked))
    read = n[is_read]
    of_source, of_target = (
        np.bincount(side, weights=read).astype(np.int64)[side]
        for side in (source[is_read], target[is_read])
    )
    pmi = np.full(len(n), np.nan)
    pmi[is_read] = pointwise_mutual_information(read, of_source, of_target, int(read.sum()))
    return pmi
