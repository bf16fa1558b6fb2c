"""Ordered pairs of tokens in the corpus: counts, relation and PMI."""

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.pair import pointwise_mutual_information
from analysis.scopes import RELATIONS
from analysis.statistics.fit import FitContext
from analysis.statistics.pairs.pair import TABLE
from analysis.statistics.pairs.pair_merge import RELATION_COUNTS, RELATION_OF_COUNTS, WIDEST
from analysis.statistics.rows import names_of, nulls_where, table_of

VERSION = 2
NEEDS = ("pair_delta",)
_COUNTS = f"""
    select source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
        counts[relation + 1] / n as relation_share, counts[1] > 0 as has_special
    from (
        select source, target, count(*)::integer as n,
            (count(*) filter (is_first))::integer as n_sequences, {RELATION_COUNTS} as counts
        from pair_delta_shards
        where layer = {WIDEST}
        group by source, target
    )
"""


def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """One row per ordered pair in `pair_delta`, counted in the first layer with the widest window.

    PMI refers to all pairs of words, listed or not.
    """
    store.execute(f"create temp table counted as {_COUNTS}")
    sides = {
        side: f"(select {side}, sum(n)::bigint as n_{side} from counted where not has_special "
        f"group by {side})"
        for side in ("source", "target")
    }
    pairs = store.execute(
        f"""
        select counted.*, n_source, n_target
        from counted
        semi join (from pair_delta_wide where layer = {WIDEST}) using (source, target)
        left join {sides["source"]} using (source)
        left join {sides["target"]} using (target)
        """
    ).df()
    [(n_all,)] = store.execute(
        "select coalesce(sum(n), 0)::bigint from counted where not has_special"
    ).fetchall()
    store.execute("drop table counted")
    of_words = ~pairs["has_special"].to_numpy()
    pmi = np.full(len(pairs), np.nan)
    counted = pairs[["n", "n_source", "n_target"]][of_words].to_numpy().astype(np.int64)
    n_pair, n_source, n_target = counted.T
    pmi[of_words] = pointwise_mutual_information(n_pair, n_source, n_target, n_all)
    columns = ("source", "target", "n", "n_sequences", "relation_share", "has_special")
    return table_of(
        TABLE,
        **{name: pairs[name].to_numpy() for name in columns},
        pmi=nulls_where(pmi),
        relation=names_of(pairs["relation"].to_numpy(), RELATIONS),
    )
