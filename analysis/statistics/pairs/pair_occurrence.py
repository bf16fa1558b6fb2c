"""Occurrences in the corpus of the top pairs of each list, and the change of each."""

from itertools import product

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import single
from analysis.statistics.corpus import IS_CAUSAL, WINDOW
from analysis.statistics.fit import FitContext, from_query
from analysis.statistics.pairs.pair import SOURCE, SOURCE_POSITION, TARGET, TARGET_POSITION
from analysis.statistics.pairs.pair_delta import top
from analysis.statistics.pairs.pair_extreme import MIN_COUNTS
from analysis.statistics.question import asks
from analysis.statistics.table import EFFECT, LAYER, SEQUENCE, Table

LIMIT = 10
_WAYS = list(product((True, False), MIN_COUNTS, (True, False)))


def _occurrences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Find the occurrences of the pairs of all lists in the sequences whose text the file keeps."""
    effects = tuple(context.order.effects)
    lists = (_pairs(store, effect, *options) for effect, options in product(effects, _WAYS))
    store.register("listed", pd.concat(lists).drop_duplicates())
    deltas = " ".join(f"when '{effect}' then {effect}" for effect in effects)
    rows = from_query(
        table,
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
    """Return layer, source, target and effect of the pairs in the lists of every layer."""
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


@asks(f"""
    with stored as (
        select seq, source_pos, target_pos, delta
        from pair_occurrence
        where layer = $layer and effect = $effect and source = $source_id and target = $target_id
    ),
    looks as (select {WINDOW} as far from (select $layer as layer))
    select seq, s.pos as source_pos, t.pos as target_pos, delta::double as delta,
        coalesce(abs(s.pos - t.pos) <= (select far from looks), true) as in_window
    from token as s
    join token as t using (seq)
    left join stored
        on stored.seq = s.seq and source_pos = s.pos and target_pos = t.pos
    where s.token_id = $source_id and t.token_id = $target_id
        and (s.pos < t.pos or s.pos > t.pos and not {IS_CAUSAL})
    order by abs(delta) desc nulls last, in_window desc, seq, s.pos, t.pos
    limit $limit
""")
def of_pair(
    store: DuckDBPyConnection,
    *,
    source_id: int,
    target_id: int,
    layer: int,
    effect: str,
    limit: int,
) -> pd.DataFrame:
    """Occurrences of a pair, largest changes first: seq, source_pos, target_pos, delta (NaN if not
    stored), in_window (True if the layer sees that far)."""
    ...


@asks("select pos, token_id, token, token_type, segment from token where seq = $seq order by pos")
def sequence(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """Every token of a sequence in reading order: pos, token_id, token, token_type, segment."""
    ...


@asks("""
    select source as source_id, target as target_id, source_pos, target_pos, delta::double as delta
    from pair_occurrence where layer = $layer and effect = $effect and seq = $seq
    order by target_pos, source_pos
""")
def of_sequence(store: DuckDBPyConnection, *, seq: int, layer: int, effect: str) -> pd.DataFrame:
    """Stored changes of one sequence's pairs: source_id, target_id, source_pos, target_pos,
    delta."""
    ...
