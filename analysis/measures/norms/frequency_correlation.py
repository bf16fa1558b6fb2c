"""Whether frequent words get more weight, or longer vectors."""

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import rankdata

from analysis.measures.bootstrap import Redraws

_NO_SPREAD = 1e-9  # one token that differs has a tenth or more


def frequency_ranks(counts: Int[np.ndarray, " value"]) -> Int[np.ndarray, " value"]:
    """Rank of every entry by its count: 1 for the most frequent; ties share the smallest.

    Source:
        kobayashi-2020, the word-frequency analysis of the released code.
    """
    return rankdata(-counts, method="min").astype(np.int64)


def rank_correlation(
    ranks: Int[np.ndarray, " token"],
    values: Float[np.ndarray, " token"],
    sequences: Int[np.ndarray, " token"],
    drawn: Redraws,
) -> tuple[float, float, float] | None:
    """Spearman's ρ between frequency rank and a quantity, over token occurrences.

    The interval redraws whole sequences and keeps every token's rank as it is in the full corpus:
    ρ is then a weighted correlation of fixed ranks, and a resample costs a sum over sequences.

    Args:
        sequences: which of the drawn sequences each occurrence stands in, counted from 0.

    Returns:
        ρ and its 95% bootstrap interval, NaN of too few units; negative ρ means that frequent
        words have more of the quantity. None where all ranks or all values are equal.

    Source:
        kobayashi-2020, the word-frequency analysis; interval: efron-1979, section 2.
    """
    first, second = rankdata(ranks), rankdata(values)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    first, second = (midranks / len(ranks) - 0.5 for midranks in (first, second))
    moments = np.stack([np.bincount(sequences, weights=w) for w in _moments(first, second)], axis=1)
    return correlation_of_moments(moments, drawn)


def correlation_of_moments(
    moments: Float[np.ndarray, "block 6"], drawn: Redraws
) -> tuple[float, float, float] | None:
    """Spearman's ρ and its 95% bootstrap interval from what each block has of the ranks.

    Args:
        moments: of each block how many tokens it has, and Σ r, Σ s, Σ r², Σ s², Σ rs of their two
            ranks, which are those among all tokens, over the number of tokens and less ½.

    Returns:
        As `rank_correlation`.

    Source:
        efron-1979, section 2.
    """
    n, *sums, first, second, _ = moments.sum(axis=0)
    if min(np.array([first, second]) - np.square(sums) / n) < _NO_SPREAD:
        return None
    with np.errstate(invalid="ignore"):
        resampled = _correlation(drawn.weights @ moments)
    (low,), (high,) = drawn.interval(resampled[:, None], moments[:, :1] > 0)
    return float(_correlation(moments.sum(axis=0)[None])[0]), float(low), float(high)


def _moments(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
    return np.ones_like(first), first, second, first * first, second * second, first * second


def _correlation(moments: Float[np.ndarray, "resample 6"]) -> Float[np.ndarray, " resample"]:
    n, first, second, first_square, second_square, product = moments.T
    covariance = product - first * second / n
    return covariance / np.sqrt((first_square - first**2 / n) * (second_square - second**2 / n))
