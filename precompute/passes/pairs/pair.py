"""Which ordered pairs of tokens the corpus has, how they relate, and their PMI."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.pair import pmi_of_pairs
from analysis.scopes import RELATIONS
from analysis.tables.pairs.pair import TABLE
from analysis.tables.pairs.pair_merge import RELATION_COUNTS, RELATION_OF_COUNTS
from precompute.passes.base import FitContext, names_of, nulls_where, table_of

VERSION = 2
NEEDS = ("pair_delta",)


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per ordered pair, counted in the first layer that looks farthest."""
    pairs = store.execute(
        f"""
        select source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
            counts[relation + 1] / n as relation_share, counts[1] > 0 as has_special
        from (
            select source, target, count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences, {RELATION_COUNTS} as counts
            from pair_delta_shards
            where layer = (
                select layer from pair_delta_shards group by layer
                order by count(*) desc, layer limit 1)
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
        pmi=nulls_where(_pmi(n, **sides, of_words=~pairs["has_special"].to_numpy())),
        relation=names_of(pairs["relation"].to_numpy(), RELATIONS),
        relation_share=pairs["relation_share"].to_numpy(),
        has_special=pairs["has_special"].to_numpy(),
    )


def _pmi(
    n: np.ndarray, *, source: np.ndarray, target: np.ndarray, of_words: np.ndarray
) -> np.ndarray:
    """PMI of every pair of words, in which pairs with a special or masked token count nowhere."""
    found = np.full(len(n), np.nan)
    found[of_words] = pmi_of_pairs(n[of_words], source[of_words], target[of_words])
    return found
