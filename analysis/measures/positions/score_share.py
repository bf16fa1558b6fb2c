"""Score by offset alone, and shares of position and content in the variance of scores."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float, Int


def position_kernel(
    means: Complex[np.ndarray, "*head plane"],
    frequencies: Float[np.ndarray, " plane"],
    offsets: Int[np.ndarray, " offset"],
) -> Float[np.ndarray, "*head offset"]:
    """K(t) = Re Σ_c m_c e^(−iθ_c t), the mean–mean term of a head's scores.

    Args:
        means: E q conj(E k) of each plane, over the pairs that are compared.
        frequencies: θ in radians per token.

    Returns:
        Scores as they enter the softmax. Unrotated coordinates are left out: they give all offsets
        the same score.

    Source:
        su-2021, section 3.2.1, eq. 12; yamamoto-2023, section 3.5, whose weighted sum it replaces.
    """
    angles = frequencies[:, None] * offsets
    return np.real(means) @ np.cos(angles) + np.imag(means) @ np.sin(angles)


PARTS = ("position", "query", "key", "content")


class HeadTotals(NamedTuple):
    """Sums of `score_sums.plane_totals` over texts for one head, with the number of pairs; a row
    for each resample of the texts, or one for all of them.

    `whole` is Σ d_ij² over all planes and the unrotated coordinates.
    """

    query: Complex[np.ndarray, "resample plane"]
    key: Complex[np.ndarray, "resample plane"]
    turn: Complex[np.ndarray, "resample plane"]
    query_turn: Complex[np.ndarray, "resample plane"]
    key_turn: Complex[np.ndarray, "resample plane"]
    whole: Float[np.ndarray, " resample"]
    n_pairs: Float[np.ndarray, " resample"]


class TermTotals(NamedTuple):
    """Sums of `score_sums.offset_totals` over texts for one head, laid out as in `HeadTotals`.

    `whole` is Σ d_ij² over all buckets.
    """

    query: Float[np.ndarray, "resample bucket"]
    key: Float[np.ndarray, "resample bucket"]
    bias: Float[np.ndarray, "resample bucket"]
    deviation: Float[np.ndarray, "resample bucket"]
    query_part: Float[np.ndarray, "resample bucket"]
    key_part: Float[np.ndarray, "resample bucket"]
    whole: Float[np.ndarray, " resample"]
    n_pairs: Float[np.ndarray, " resample"]


def score_shares(totals: HeadTotals | TermTotals) -> Float[np.ndarray, "resample 4"]:
    """Shares of the four terms of every score: their covariance with the score over its variance.

    With q = E q + δq and k = E k + δk a score is the sum of four terms: position alone,
    E q with E k; the query's content, δq with E k; the key's content, E q with δk; and both, δq
    with δk plus all unrotated coordinates. The share of a term is Σ d_ij · term over Σ d_ij², d_ij
    being a score less the mean of its row.

    Where scores have offset terms, position alone is E q · P_r + E k · R_r + b_r, the query's
    content δq · P_r, the key's content δk · R_r, and both q · k, which depends on no offset.

    Returns:
        In the order of `PARTS`, 1 in sum. A share is below 0 where a term works against the rest.
        NaN where all keys of every query match equally.

    Source:
        su-2021, section 3.2.1, eq. 12; he-2021, section 3.1, eq. 4; the split is ours.
    """
    parts = _of_planes(totals) if isinstance(totals, HeadTotals) else _of_terms(totals)
    whole = np.where(totals.whole > 0, totals.whole, np.nan)
    return np.stack([*parts, totals.whole - sum(parts)], axis=-1) / whole[..., None]


def _of_planes(totals: HeadTotals) -> tuple[np.ndarray, ...]:
    """Σ d_ij · term of position, query and key, from sums over planes."""
    n_pairs = totals.n_pairs[..., None]
    query, key = totals.query / n_pairs, totals.key.conj() / n_pairs
    position = _covariance(query * key, totals.turn)
    of_query = _covariance(key, totals.query_turn) - position
    return position, of_query, _covariance(query, totals.key_turn) - position


def _of_terms(totals: TermTotals) -> tuple[np.ndarray, ...]:
    """Σ d_ij · term of position, query and key, from sums over offset buckets."""
    query, key, bias = (
        _covariance(sums, totals.deviation) / totals.n_pairs
        for sums in (totals.query, totals.key, totals.bias)
    )
    of_query, of_key = totals.query_part.sum(axis=-1), totals.key_part.sum(axis=-1)
    return query + key + bias, of_query - query, of_key - key


def _covariance(means: np.ndarray, sums: np.ndarray) -> np.ndarray:
    return np.real(means * sums).sum(axis=-1)
