"""Attention received by each token and norm of its transformed vector, by head."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.base.columns import HEAD, LAYER, POS, SEQ, TOKEN_TYPE, length, weight
from analysis.statistics.base.tables import Table
from analysis.statistics.question import asks, frame_of
from analysis.statistics.table import TYPE_OF_ENTRY

TABLE = Table(
    "head_token",
    key=(LAYER, HEAD, TOKEN_TYPE, SEQ, POS),
    source="kobayashi-2020",
    needs=(Need.OWN_VECTORS,),
    version=2,
    values={
        "value_norm": length("‖f(x)‖ of the token in the head"),
        "attention_received": weight(
            "attention weight the token receives, summed over the tokens that attend"
        ),
        "norm_share_received": weight(
            "share of ‖αf(x)‖ that the token brings, every query's row scaled to a sum of 1, "
            "summed over the tokens that attend"
        ),
        "weighted_norm_received": length(
            "‖αf(x)‖ of the token, summed over the tokens that attend",
            sql="attention_received * value_norm",
        ),
    },
)
RANKINGS = {
    "attention": "attention_received / n_tokens",
    "value_norm": "value_norm",
    "weighted_norm": "weighted_norm_received / n_tokens",
}


def top_tokens(
    store: DuckDBPyConnection, *, layer: int, head: int, by: str, least: int, limit: int
) -> pd.DataFrame:
    """The tokens with the highest means over their occurrences in a head, as vocabulary entries.

    Args:
        by: a key of `RANKINGS`.
        least: fewest occurrences of a listed token.

    Returns:
        token, token_type, n, attention (share of a query's weight), value_norm, weighted_norm.
    """
    return frame_of(
        store,
        f"""
        select
            token,
            {TYPE_OF_ENTRY} as token_type,
            count(*) as n,
            avg(attention_received / n_tokens)::double as attention,
            avg(value_norm)::double as value_norm,
            avg(weighted_norm_received / n_tokens)::double as weighted_norm
        from head_token
        join token using (seq, pos, token_type)
        join sequence using (seq)
        where layer = $layer and head = $head
        group by token
        having count(*) >= $least
        order by avg({RANKINGS[by]}) desc, token
        limit $limit
        """,
        {"layer": layer, "head": head, "least": least, "limit": limit},
    )


def top_sequences(
    store: DuckDBPyConnection, *, layer: int, head: int, token: str, by: str, limit: int
) -> pd.DataFrame:
    """The sequences with the highest values of one token in a head: seq, pos, value, best first."""
    return frame_of(
        store,
        f"""
        select seq, pos, ({RANKINGS[by]})::double as value
        from head_token
        join token using (seq, pos, token_type)
        join sequence using (seq)
        where layer = $layer and head = $head and token = $token
        qualify row_number() over (partition by seq order by value desc, pos) = 1
        order by value desc, seq
        limit $limit
        """,
        {"layer": layer, "head": head, "token": token, "limit": limit},
    )


@asks("""
    select
        seq,
        pos,
        token,
        token_type,
        (attention_received / n_tokens)::double as attention,
        value_norm::double as value_norm,
        (weighted_norm_received / n_tokens)::double as weighted_norm
    from head_token
    join token using (seq, pos, token_type)
    join sequence using (seq)
    where layer = $layer and head = $head and list_contains($sequences, seq)
    order by seq, pos
""")
def sequence_tokens(
    store: DuckDBPyConnection, *, layer: int, head: int, sequences: list[int]
) -> pd.DataFrame:
    """Every token of the given sequences: seq, pos, token, token_type, attention, value_norm,
    weighted_norm, in reading order; attention and weighted_norm are means over the queries."""
    ...
