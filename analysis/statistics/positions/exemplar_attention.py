"""The first rows and columns of every head's attention, in a few long texts.

Of a long text the first 15 tokens are kept: kept sequences × layers × heads rows.
"""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import singles, small
from analysis.statistics.question import asks, sequences_of
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

SHOWN = 15
TABLE = Table(
    name="exemplar_attention",
    grain="one row per layer and head of the few sequences whose maps are kept",
    key=(SEQUENCE, LAYER, HEAD),
    values=(
        small("n", "tokens shown, the first of the sequence", "tokens"),
        singles("attention", "α of every pair of these tokens, one query after the other"),
    ),
    source="yamamoto-2023",
    laws=(
        f"n between 1 and {SHOWN}",
        "len(attention) = n * n",
        "list_min(attention) >= 0",
        "list_sum(attention) <= n * 1.05",
    ),
    depends_on=(),
)


@asks("""
    with cell as (
        select n, unnest(range(n * n)) as place, unnest(attention)::double as attention
        from exemplar_attention
        where layer = $layer and head = $head and seq = $seq
    )
    select place // n as query_pos, place % n as key_pos,
        q.token as query_token, k.token as key_token, attention
    from cell
    join token as q on q.seq = $seq and q.pos = place // n
    join token as k on k.seq = $seq and k.pos = place % n
    order by place
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int, seq: int) -> pd.DataFrame:
    """One head's map of the first tokens of a text: query_pos, key_pos, query_token, key_token,
    attention; a row per pair, by query."""
    ...


@asks(sequences_of("exemplar_attention"))
def exemplars(store: DuckDBPyConnection) -> pd.DataFrame:
    """seq, n_tokens, text of the kept sequences."""
    ...
