"""Whether heads attend where their queries and keys match best."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.token_type_mixing import percentile_interval, sequence_draws

Offsets = Int[np.ndarray, " row"]


class Estimate(NamedTuple):
    """A number and the ends of its interval; NaN where there is none."""

    value: float
    low: float
    high: float


def agreement(scores: Offsets, attention: Offsets, *, seed: int) -> Estimate:
    """Share of the heads whose two offsets are the same, heads being drawn for the interval.

    Source:
        yamamoto-2023, section 3.5, whose claim it is; efron-1979, section 2.

    Differs:
        The paper shows three heads; the number over all heads is ours.
    """
    same = (scores == attention).astype(np.float64)
    drawn = sequence_draws(len(same), seed=seed) @ same / len(same)
    return _estimate(same.mean(), drawn)


def rank_correlation(scores: Offsets, attention: Offsets, *, seed: int) -> Estimate:
    """Spearman's ρ of the two offsets over heads, with mid-ranks.

    Returns:
        NaN if either offset is the same for all heads; resamples in which it is are left out of the
        interval.

    Source:
        yamamoto-2023, section 3.5, whose claim it is; efron-1979, section 2.
    """
    n = len(scores)
    (value,) = _weighted_spearman(scores, attention, np.ones((1, n)))
    return _estimate(value, _weighted_spearman(scores, attention, sequence_draws(n, seed=seed)))


def chance_agreement(scores: Offsets, attention: Offsets) -> float:
    """The agreement to expect if each side's offsets were dealt to the heads at random.

    Σ_t p_scores(t) · p_attention(t).

    Source:
        yamamoto-2023, section 3.5, whose claim it is measured against.
    """
    return float((scores[:, None] == attention[None, :]).mean())


def _estimate(value: float, drawn: Float[np.ndarray, " resample"]) -> Estimate:
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan)
    (low,), (high,) = percentile_interval(drawn[:, None])
    return Estimate(float(value), float(low), float(high))


def _weighted_spearman(
    first: Offsets, second: Offsets, weights: Float[np.ndarray, "resample row"]
) -> Float[np.ndarray, " resample"]:
    """ρ of rows that count as often as their weight says."""
    ranks = np.stack([_weighted_midranks(each, weights) for each in (first, second)])
    centred = ranks - (ranks * weights).sum(axis=-1, keepdims=True) / weights.sum(axis=-1)[:, None]
    squares = (centred**2 * weights).sum(axis=-1)
    products = (centred[0] * centred[1] * weights).sum(axis=-1)
    varies = (squares > 1e-9).all(axis=0)
    scale = np.sqrt(squares.prod(axis=0))
    return np.divide(products, scale, out=np.full(len(weights), np.nan), where=varies).clip(-1, 1)


def _weighted_midranks(
    values: Offsets, weights: Float[np.ndarray, "resample row"]
) -> Float[np.ndarray, "resample row"]:
    """Rank of every row among rows that stand there several times; equal ones share the middle."""
    levels, level = np.unique(values, return_inverse=True)
    counts = weights @ (level[:, None] == np.arange(len(levels))).astype(np.float64)
    return (counts.cumsum(axis=1) - counts / 2)[:, level]
