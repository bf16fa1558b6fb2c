"""Heads of two files: changes of the same heads, and heads matched by their attention."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from analysis.comparison.account import Account, reasons, shared_sequences
from analysis.comparison.differences import paired_differences
from analysis.errors import UnknownName
from analysis.habits import HABITS, TOKEN_TYPES
from analysis.statistics.heads.single_heads import HEAD_PATTERN
from analysis.statistics.positions.attention import REACH, RELATIVE_POSITION_PROFILE
from analysis.statistics.question import frame_of


def held_habits(store: DuckDBPyConnection) -> list[str]:
    """Return the habits that have values in the file."""
    counts = frame_of(
        store, "select count(columns($habits)) from sequence_head_pattern", {"habits": list(HABITS)}
    )
    return [name for name, n in zip(HABITS, counts.iloc[0], strict=True) if n]


def habit_of_heads(store: DuckDBPyConnection, *, habit: str, weighing: str) -> pd.DataFrame:
    """Return one habit of every head in every text; attention to an absent token type is 0.

    Returns:
        a row per text, a column per layer and head; NaN where a text has no such pair of tokens.

    Raises:
        UnknownName: if no habit of heads is called so.
    """
    if habit not in HABITS:
        raise UnknownName("habit", habit, HABITS)
    rows = frame_of(
        store,
        f"""
        select seq, layer::int as layer, head::int as head, "{habit}"::double as value
        from sequence_head_pattern_weighing
        where weighing = $weighing
        order by all
        """,
        {"weighing": weighing},
    )
    wide = rows.pivot(index="seq", columns=["layer", "head"], values="value")
    return wide.fillna(0.0) if habit in TOKEN_TYPES else wide


def head_differences(
    one: tuple[Account, pd.DataFrame], other: tuple[Account, pd.DataFrame], *, seed: int
) -> pd.DataFrame:
    """Return the mean change of a habit per head, over the texts of both files.

    Args:
        one, other: the file's account of itself and its `habit_of_heads`.

    Returns:
        layer, head, one, other (means), difference, low, high, p, n.

    Raises:
        ValueError: if the files cannot be compared as `head_by_head`.
    """
    if obstacles := reasons(one[0], other[0], "head_by_head"):
        raise ValueError(f"the files have other heads or texts: {', '.join(obstacles)}")
    units = shared_sequences(one[0], other[0])
    heads = one[1].columns
    sides = [wide.reindex(index=units, columns=heads) for _, wide in (one, other)]
    both = sides[0].notna() & sides[1].notna()
    before, after = (side.where(both) for side in sides)
    changes = paired_differences(before.to_numpy(), after.to_numpy(), seed=seed)
    means = {"one": before.mean().to_numpy(), "other": after.mean().to_numpy()}
    return heads.to_frame(index=False).assign(**means, **changes._asdict())


PROFILES = {"positions": RELATIVE_POSITION_PROFILE, "kinds": HEAD_PATTERN}
"""Attention profiles of a head and their tables: by offset, up to 10 either way and beyond; or by
type of token: the first one or BOS, [CLS], [SEP], commas and periods, others."""
_SHARES = {
    "positions": f"""
        with share as (
            select layer, head, unnest(profile)::double / n_tokens as attention,
                unnest(range({-REACH}, {REACH + 1}))::smallint as place
            from sequence_relative_position)
        select layer, head, place, avg(attention) as attention
        from share where attention is not null group by layer, head, place order by all""",
    "kinds": """
        select layer, head, quantity as place, mean as attention
        from head_pattern_interval where head is not null""",
}


def head_profiles(store: DuckDBPyConnection, *, profile: str) -> pd.DataFrame:
    """Return the attention profile of every head: rows by layer and head, each summing to 1.

    Args:
        profile: one of `PROFILES`.
    """
    rows = frame_of(store, _SHARES[profile])
    wide = rows.pivot(index=["layer", "head"], columns="place", values="attention")
    shares = (wide.reindex(columns=list(TOKEN_TYPES)) if profile == "kinds" else wide).fillna(0.0)
    shares = shares.assign(rest=(1 - shares.sum(axis=1)).clip(lower=0.0))
    return shares.div(shares.sum(axis=1), axis=0)


class Matching(NamedTuple):
    """Heads of the first file matched with heads of the second, and their divergences.

    `match` and `divergence` hold each head's partner and distance, `to_itself` the distance from
    the head with the same layer and number. `matched`, `same` and `chance` are mean divergences
    over heads: with their match, with the head of the same layer and number, and with any head.
    """

    match: Int[np.ndarray, " head"]
    divergence: Float[np.ndarray, " head"]
    to_itself: Float[np.ndarray, " head"]
    matched: float
    same: float
    chance: float


def divergences(
    one: Float[np.ndarray, "head value"], other: Float[np.ndarray, "head value"]
) -> Float[np.ndarray, "head head"]:
    """Jensen–Shannon divergences of the heads of two files, row by row of shares.

    Returns:
        Nats, from 0 to ln 2; the first file's heads before the second's.
    """
    return cdist(one, other, metric="jensenshannon") ** 2


def matched_heads(distances: Float[np.ndarray, "head head"]) -> Matching:
    """Match heads one to one so that the sum of divergences is least.

    Any two sets of heads have a best matching, which is closer than chance; the evidence is whether
    it matches heads with themselves. Matched at random, one head on average would be matched with
    itself, whatever their number.
    """
    rows, match = linear_sum_assignment(distances)
    matched, itself = distances[rows, match], np.diagonal(distances)
    means = (float(values.mean()) for values in (matched, itself, distances))
    return Matching(match, matched, itself, *means)
