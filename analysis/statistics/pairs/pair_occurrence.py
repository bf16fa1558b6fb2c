"""Occurrences in the corpus of the top pairs of each list, and the change of each."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import single
from analysis.statistics.fit import FitContext, from_query
from analysis.statistics.pairs.pair import SOURCE, SOURCE_POSITION, TARGET, TARGET_POSITION
from analysis.statistics.table import EFFECT, LAYER, SEQUENCE, Table

LIMIT = 10
_LISTED = f"""
    select distinct layer, effect, source, target
    from pair_extreme
    window list as (
        partition by layer, effect, amplified, min_count order by abs(mean) desc, source, target
    ),
    list_of_words as (
        partition by layer, effect, amplified, min_count, relation = 0
        order by abs(mean) desc, source, target
    )
    qualify row_number() over list <= {LIMIT}
        or (relation <> 0 and row_number() over list_of_words <= {LIMIT})
"""
"""The first pairs of every list by mean change, with special tokens and without."""


def _occurrences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Find the occurrences of the pairs of all lists in the sequences whose text the file keeps."""
    deltas = " ".join(f"when '{effect}' then {effect}" for effect in context.order.effects)
    return from_query(
        table,
        store,
        f"""
        select layer, effect, source, target, seq, source_pos, target_pos,
            case effect {deltas} end as delta
        from pair_delta_shards
        join ({_LISTED}) using (layer, source, target)
        semi join texts using (seq)
        """,
    )


TABLE = Table(
    name="pair_occurrence",
    grain=f"one row per occurrence of the pairs among the first {LIMIT} of a layer and effect",
    key=(LAYER, EFFECT, SOURCE, TARGET, SEQUENCE, SOURCE_POSITION, TARGET_POSITION),
    values=(single("delta", "change of the share of w_j in w_i"),),
    source="kobayashi-2024",
    needs=(Need.PAIRS,),
    raw_rows=True,
    laws=("source_pos <> target_pos", "delta between -1 - 1e-6 and 1 + 1e-6"),
    depends_on=(),
    requires=("pair_delta", "pair", "pair_extreme"),
    made_by=_occurrences,
)
