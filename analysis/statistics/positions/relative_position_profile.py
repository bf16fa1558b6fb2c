"""Attention of each head by relative position, text by text.

Offsets beyond 10 are not kept one by one, however long the text: a head has 21 numbers per text,
and one row. η² counts all offsets.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import number, singles, small
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table, View

REACH = 10
OFFSET = small("offset", "place of the key less place of the query; below 0: to the left", "tokens")
TABLE = Table(
    name="relative_position_profile",
    grain="one row per sequence, layer and head",
    key=(SEQUENCE, LAYER, HEAD),
    values=(
        small("n_tokens", "tokens of the sequence, special ones included", "tokens"),
        singles(
            "profile",
            "α summed over the pairs of one offset, from -10 to 10; NULL where no key may be seen",
            "tokens",
        ),
        number(
            "dependence",
            "η²: share of the variance of α over pairs that the offset explains; "
            "NULL if all pairs weigh the same",
            nullable=True,
        ),
    ),
    source="yamamoto-2023",
    laws=(
        f"len(profile) = {2 * REACH + 1}",
        "list_min(profile) >= 0",
        "list_sum(profile) <= n_tokens * 1.05",  # rows of α add up to 1, but for rounding
        "dependence is null or dependence between 0 and 1",
    ),
    order=("layer", "head", "seq"),
    shown_as="sequence_relative_position",
    views=(
        View(
            "relative_position_profile",
            "one row per layer, head and offset that a key may have; means over sequences",
            (
                LAYER,
                HEAD,
                OFFSET,
                number(
                    "attention",
                    "α summed over the pairs of the offset, mean over sequences",
                    "tokens",
                ),
            ),
            """
            select layer, head, "offset", avg(attention) as attention
            from (
                select layer, head, unnest(range(-10, 11))::smallint as "offset",
                    unnest(profile)::double as attention
                from stored.relative_position_profile
            )
            where attention is not null
            group by layer, head, "offset"
            """,
        ),
    ),
    depends_on=(),
)


@asks(f"""
    with share as (
        select unnest(range({-REACH}, {REACH + 1}))::smallint as "offset",
            unnest(profile)::double / n_tokens as attention
        from sequence_relative_position
        where layer = $layer and head = $head
    )
    select "offset", avg(attention) as mean, quantile_cont(attention, 0.25) as q25,
        quantile_cont(attention, 0.75) as q75, count(*) as n_sequences
    from share
    where attention is not null
    group by "offset"
    order by "offset"
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """Attention per token of one head by offset: offset, mean, q25, q75 (quartiles over texts) of
    tr_t(A) / n, n_sequences."""
    ...


@asks(f"""
    with share as (
        select layer, head, unnest(range({-REACH}, {REACH + 1}))::smallint as "offset",
            unnest(profile)::double / n_tokens as attention
        from sequence_relative_position
    )
    select layer, head, "offset", avg(attention) as attention
    from share
    where attention is not null
    group by layer, head, "offset"
    order by layer, head, "offset"
""")
def all_heads(store: DuckDBPyConnection) -> pd.DataFrame:
    """Attention per token of every head by offset: layer, head, offset, attention.

    The mean over texts of tr_t(A) / n.
    """
    ...


class Profiles(NamedTuple):
    """Attention per token of every text, layer and head, by visible offset."""

    layer: np.ndarray
    head: np.ndarray
    values: np.ndarray
    offsets: np.ndarray


def stored_profiles(store: DuckDBPyConnection) -> Profiles:
    """Return the profiles by text, layer and head: of all texts, or of the file's sample."""
    rows = store.sql(
        """
        select layer, head, n_tokens, profile
        from kept.relative_position_profile
        order by seq, layer, head
        """
    ).to_arrow_table()
    lists = rows["profile"].combine_chunks()
    sums = lists.flatten().to_numpy(zero_copy_only=False)
    values = sums.reshape(-1, 2 * REACH + 1) / rows["n_tokens"].to_numpy()[:, None]
    there = ~np.isnan(values).any(axis=0)
    return Profiles(
        rows["layer"].to_numpy(),
        rows["head"].to_numpy(),
        values[:, there].astype(np.float64),
        np.arange(-REACH, REACH + 1)[there],
    )
