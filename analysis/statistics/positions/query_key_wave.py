"""Waves of queries and keys along positions, and the singular values of their directions.

Of a long text the first 64 tokens and the offsets within 64 are kept: at most kept sequences ×
layers × heads × 20 rows.
"""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, single, singles, whole
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

RANK = whole("rank", "place in descending order, from 1")
SINGULAR_VALUES = Table(
    name="query_key_singular_value",
    grain="one row per layer, head and direction; the values that are exactly 0 are left out",
    key=(LAYER, HEAD, RANK),
    values=(number("value", "singular value of the query-key form on [x 1]", "score"),),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("value >= 0", "rank >= 1"),
    depends_on=(),
    of_model=True,
)


@asks("""
    select rank, value
    from query_key_singular_value
    where layer = $layer and head = $head
    order by rank
""")
def singular_values(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """Singular values of one head: rank, value."""
    ...


RANKS, SHOWN, REACH = 20, 64, 64
"""Directions that are kept of a head, tokens of its waves, offsets to either side."""

_OF_WAVE = f"of the first {SHOWN} tokens in this direction"
TABLE = Table(
    name="query_key_wave",
    grain=f"one row per kept sequence, layer, head and direction, the {RANKS} strongest; those "
    "that compare nothing are left out",
    key=(SEQUENCE, LAYER, HEAD, RANK),
    values=(
        single("value", "singular value of the direction", "score"),
        singles("query", f"queries {_OF_WAVE}", "stream length"),
        singles("key", f"keys {_OF_WAVE}", "stream length"),
        singles(
            "correlation",
            f"cross-correlation at every offset from -{REACH}, or the farthest there is, to "
            f"{REACH}, or 0 where no later key may be seen",
            "correlation",
        ),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "value > 0",
        f"rank between 1 and {RANKS}",
        f"len(query) between 1 and {SHOWN} and len(query) = len(key)",
        f"len(correlation) between 1 and {2 * REACH + 1}",
        "list_min(correlation) >= -2 - 1e-4 and list_max(correlation) <= 2 + 1e-4",
    ),
    order=("layer", "head", "seq", "rank"),
    depends_on=(),
)


@asks("""
    select rank, value::double as value, unnest(range(len(query)))::int as pos,
        unnest(query)::double as query, unnest(key)::double as key
    from query_key_wave
    where layer = $layer and head = $head and seq = $seq
    order by rank, pos
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int, seq: int) -> pd.DataFrame:
    """rank, value, pos, query, key: one row per direction and token of one text."""
    ...


@asks(f"""
    with unfolded as (
        select rank, value,
            unnest(range(len(correlation))) - least({REACH}, n_tokens - 1) as "offset",
            unnest(correlation)::double as correlation
        from query_key_wave join sequence using (seq)
        where layer = $layer and head = $head and ($seq is null or seq = $seq)
    )
    select rank, any_value(value)::double as value, "offset"::int as "offset",
        avg(correlation) as correlation
    from unfolded
    group by rank, "offset"
    order by rank, "offset"
""")
def correlations(
    store: DuckDBPyConnection, *, layer: int, head: int, seq: int | None
) -> pd.DataFrame:
    """Cross-correlations of one text, or their means over all kept ones that have the offset: rank,
    value, offset, correlation."""
    ...
