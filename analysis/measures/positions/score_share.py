"""How much of what tells a head's scores apart is due to position, and how much to tokens."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

PARTS = ("position", "query", "key", "content")


class HeadTotals(NamedTuple):
    """Sums of `rotary_plane.plane_totals` over texts, of one head, and over how many pairs; a row
    for each resample of the texts, or one for all of them.

    `whole` is Σ d_ij², of all planes and of what is not turned.
    """

    query: Complex[np.ndarray, "resample plane"]
    key: Complex[np.ndarray, "resample plane"]
    turn: Complex[np.ndarray, "resample plane"]
    query_turn: Complex[np.ndarray, "resample plane"]
    key_turn: Complex[np.ndarray, "resample plane"]
    whole: Float[np.ndarray, " resample"]
    n_pairs: Float[np.ndarray, " resample"]


def score_shares(totals: HeadTotals) -> Float[np.ndarray, "resample 4"]:
    """The four terms of every score, each by its covariance with the score, over the variance.

    With q = E q + δq and k = E k + δk a score is the sum of what position alone gives, E q with
    E k; of what the query's content gives, δq with E k; of what the key's content gives, E q with
    δk; and of what only both give, δq with δk and all that is not turned. Σ d_ij · term over
    Σ d_ij² is the share of each, d_ij being a score less the mean of its row.

    Returns:
        In the order of `PARTS`, 1 in sum. A share is below 0 where a term works against the rest.
        NaN where all keys of every query match equally.

    Source:
        su-2021, section 3.2.1, eq. 12; the split is ours.
    """
    n_pairs = totals.n_pairs[..., None]
    query, key = totals.query / n_pairs, totals.key.conj() / n_pairs
    position = _covariance(query * key, totals.turn)
    of_query = _covariance(key, totals.query_turn) - position
    of_key = _covariance(query, totals.key_turn) - position
    content = totals.whole - position - of_query - of_key
    whole = np.where(totals.whole > 0, totals.whole, np.nan)
    return np.stack([position, of_query, of_key, content], axis=-1) / whole[..., None]


class TermTotals(NamedTuple):
    """Sums of `offset_term.offset_totals` over texts, of one head, and over which pairs.

    `whole` is Σ d_ij², of all buckets.
    """

    query: Float[np.ndarray, " bucket"]
    key: Float[np.ndarray, " bucket"]
    bias: Float[np.ndarray, " bucket"]
    deviation: Float[np.ndarray, " bucket"]
    query_part: Float[np.ndarray, " bucket"]
    key_part: Float[np.ndarray, " bucket"]
    whole: float
    n_pairs: int


def term_shares(totals: TermTotals) -> Float[np.ndarray, "4"]:
    """The same four terms of scores that have terms of offsets.

    With q = E q + δq and k = E k + δk a score is the sum of what position alone gives,
    E q · P_r + E k · R_r + b_r; of what the query's content gives, δq · P_r; of what the key's
    content gives, δk · R_r; and of q · k, in which no offset is.

    Returns:
        In the order of `PARTS`, 1 in sum; NaN where all keys of every query match equally.

    Source:
        he-2021, section 3.1, eq. 4; the split is ours.
    """
    if totals.whole <= 0:
        return np.full(len(PARTS), np.nan)
    query, key, bias = (
        float(totals.deviation @ each) / totals.n_pairs
        for each in (totals.query, totals.key, totals.bias)
    )
    of_query, of_key = totals.query_part.sum() - query, totals.key_part.sum() - key
    parts = [query + key + bias, of_query, of_key]
    return np.array([*parts, totals.whole - sum(parts)]) / totals.whole


def _covariance(means: np.ndarray, sums: np.ndarray) -> np.ndarray:
    return np.real(means * sums).sum(axis=-1)
