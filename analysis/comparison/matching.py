"""Heads of two files matched by their attention."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from analysis.habits import TOKEN_TYPES
from analysis.statistics.heads.single_heads import HEAD_PATTERN
from analysis.statistics.positions import relative_position_profile
from analysis.statistics.question import frame_of

PROFILES = {
    "positions": relative_position_profile.TABLE,
    "kinds": HEAD_PATTERN,
}
"""Attention profiles of a head and their tables: by offset, up to 10 either way and beyond; or by
type of token: the first one or BOS, [CLS], [SEP], commas and periods, others."""


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


def head_profiles(store: DuckDBPyConnection, *, profile: str) -> pd.DataFrame:
    """Return the attention profile of every head: rows by layer and head, each summing to 1.

    Args:
        profile: one of `PROFILES`.
    """
    if profile == "positions":
        rows = relative_position_profile.all_heads(store)
        wide = rows.pivot(index=["layer", "head"], columns="offset", values="attention")
    else:
        rows = frame_of(store, "from head_pattern_interval where head is not null")
        wide = rows.pivot(index=["layer", "head"], columns="quantity", values="mean")
        wide = wide.reindex(columns=list(TOKEN_TYPES))
    shares = wide.fillna(0.0)
    shares = shares.assign(rest=(1 - shares.sum(axis=1)).clip(lower=0.0))
    return shares.div(shares.sum(axis=1), axis=0)


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
