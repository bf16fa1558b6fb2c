"""Whether a step amplifies pairs of tokens that go together."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.errors import UnknownName
from analysis.scopes import EFFECTS, RELATIONS
from analysis.tables.table import EFFECT, LAYER, Column, Table

MIN_COUNTS = (2, 5, 10)
EXTREMES = 10
TABLE = Table(
    name="pair_pmi_correlation",
    grain="one row per layer, effect and minimum count; pairs with special tokens are left out",
    key=(
        LAYER,
        EFFECT,
        Column("min_count", pa.int32(), "how often a pair occurs at least", "pairs"),
    ),
    values=(
        Column("n_pairs", pa.int64(), "pairs of vocabulary entries that take part", "pairs"),
        Column("spearman", pa.float64(), "Spearman's ρ of PMI and mean change", "ρ"),
    ),
    source="church-1990",
    laws=("n_pairs >= 3", "spearman between -1 - 1e-9 and 1 + 1e-9"),
)


def by_layer(store: DuckDBPyConnection, *, min_count: int) -> pd.DataFrame:
    """layer, effect, n_pairs, spearman for one of `MIN_COUNTS`."""
    return store.execute(
        """
        select layer, effect, n_pairs, spearman
        from pair_pmi_correlation
        where min_count = $min_count
        order by layer, list_position($effects, effect)
        """,
        {"min_count": min_count, "effects": list(EFFECTS)},
    ).df()


def points(
    store: DuckDBPyConnection, *, layer: int, effect: str, min_count: int, limit: int
) -> pd.DataFrame:
    """A sample of the pairs that take part, the same at every call, and the extremes of the change.

    Args:
        limit: how many pairs are drawn; the `EXTREMES` at either end come on top.

    Returns:
        source, target, n, pmi, mean_delta, relation.

    Raises:
        UnknownName: no such effect.
    """
    if effect not in EFFECTS:
        raise UnknownName("effect", effect, EFFECTS)
    rows = f"""
        from (
            select source, target, n, relation, mean_{effect} as mean
            from pair_delta_wide
            where layer = $layer and n >= $min_count and relation <> $special
        )
    """
    return store.execute(
        f"""
        with drawn as (
            ({rows} order by hash(source, target), source, target limit $limit)
            union
            ({rows} order by mean desc, source, target limit {EXTREMES})
            union
            ({rows} order by mean, source, target limit {EXTREMES})
        )
        select s.token as source, t.token as target, drawn.n, pmi::double as pmi,
            mean::double as mean_delta, $relations[drawn.relation + 1] as relation
        from drawn
        join pair using (n, source, target)
        join vocabulary as s on s.token_id = drawn.source
        join vocabulary as t on t.token_id = drawn.target
        order by drawn.source, drawn.target
        """,
        {
            "layer": layer,
            "min_count": min_count,
            "limit": limit,
            "special": RELATIONS.index("special"),
            "relations": list(RELATIONS),
        },
    ).df()
