"""Ordered pairs of tokens in the corpus: counts, relation and PMI."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.mixing_change import LEAST_SEQUENCES
from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.needs import Need
from analysis.scopes import RELATIONS
from analysis.statistics.columns import flag, single, small, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.rows import names_of, nulls_where, table_of
from analysis.statistics.table import RELATION, Column, Table

SOURCE = whole("source", "token id of w_j, the token that is mixed in")
TARGET = whole("target", "token id of w_i, the token that receives")
OCCURRENCES = whole(
    "n",
    "occurrences: ordered pairs of positions i ≠ j within a sequence, j < i in a causal model",
    "pairs",
)
SOURCE_POSITION = small("source_pos", "position of w_j, counted from 0")
TARGET_POSITION = small("target_pos", "position of w_i, counted from 0")
PAIR_RELATION = Column(
    "relation",
    pa.int8(),
    "most frequent relation, as a place in RELATIONS; 0, special, with a special or masked token",
    "index",
)
PAIR_SEQUENCES = whole("n_sequences", "sequences with an occurrence", "sequences")
FEW = f"NULL below {LEAST_SEQUENCES} sequences"
ERROR = "cluster-robust standard error of the mean (CR2, sequences as clusters)"
PAIR_DEGREES = single(
    "degrees",
    f"Satterthwaite's degrees of freedom of the standard errors; {FEW}",
    "number",
    nullable=True,
)
_COUNTS_BY_RELATION = (f"count(*) filter (relation = {place})" for place in range(len(RELATIONS)))
RELATION_COUNTS = f"[{', '.join(_COUNTS_BY_RELATION)}]"
"""Number of a group's occurrences by relation, as a list in the order of `RELATIONS`."""
RELATION_OF_COUNTS = "(if(counts[1] > 0, 1, list_position(counts, list_max(counts))) - 1)::tinyint"
"""Index of the most frequent relation in `counts`, the first of several. Special, the first of all,
wins wherever it occurs, since a special token is special in every sequence."""
WIDEST = """(
    select layer from pair_delta_shards group by layer order by count(*) desc, layer limit 1
)"""
"""The first layer with the widest window, which has every pair that any layer has."""
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


def _counted_pairs(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Count the pairs of `pair_delta` in the first layer with the widest window.

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
    pmi[of_words] = pointwise_mutual_information(*counted.T, n_all=n_all)
    columns = ("source", "target", "n", "n_sequences", "relation_share", "has_special")
    return table_of(
        table,
        **{name: pairs[name].to_numpy() for name in columns},
        pmi=nulls_where(pmi),
        relation=names_of(pairs["relation"].to_numpy(), RELATIONS),
    )


TABLE = Table(
    name="pair",
    grain="one row per ordered pair of vocabulary entries that occurs",
    key=(SOURCE, TARGET),
    values=(
        OCCURRENCES,
        PAIR_SEQUENCES,
        single(
            "pmi",
            "pointwise mutual information log2 p(w_j, w_i) / (p(w_j) p(w_i)) over the occurrences "
            "of pairs of words; NULL with a special or masked token",
            "bits",
            nullable=True,
        ),
        replace(RELATION, meaning="most frequent relation; special with a special or masked token"),
        single("relation_share", "share of the occurrences with this relation"),
        flag("has_special", "whether a special or masked token takes part"),
    ),
    source="church-1990",
    needs=(Need.PAIRS,),
    laws=(
        "n > 0 and n_sequences > 0 and n_sequences <= n",
        "(pmi is null) = has_special",
        "pmi is null or isfinite(pmi)",
        "relation_share > 0 and relation_share <= 1",
        "has_special = (relation = 'special')",
    ),
    order=("n desc", "source", "target"),
    depends_on=(),
    version=2,
    requires=("pair_delta",),
    made_by=_counted_pairs,
)
