"""Correlation of word frequency with attention weight or vector norm."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.correlation_parts import Part, Units, correlation_parts, moments

_NO_SPREAD = 1e-9  # one token that differs has a tenth or more


class FrequencyCorrelation(NamedTuple):
    """Spearman's ρ with its 95% interval (NaN with too few units) and its parts by sequence."""

    spearman: float
    low: float
    high: float
    parts: tuple[Part, ...]


def frequency_ranks(counts: Int[np.ndarray, " value"]) -> Int[np.ndarray, " value"]:
    """Rank of every entry by its count: 1 for the most frequent; ties share the smallest.

    Source:
        kobayashi-2020, the word-frequency analysis of the released code.
    """
    from scipy.stats import rankdata  # here: it takes a second, which pages need not wait for

    return rankdata(-counts, method="min").astype(np.int64)


def rank_correlation(
    ranks: Int[np.ndarray, " token"],
    values: Float[np.ndarray, " token"],
    sequences: Int[np.ndarray, " token"],
    redrawn: Units,
) -> FrequencyCorrelation | None:
    """Spearman's ρ between frequency rank and a quantity, over token occurrences.

    The interval redraws whole sequences and keeps every token's rank as it is in the full corpus:
    ρ is then a weighted correlation of fixed ranks, and a resample costs a sum over sequences.

    Args:
        sequences: which sequence each occurrence stands in, counted from 0.
        redrawn: which block each sequence is redrawn with.

    Returns:
        Negative ρ means that frequent words have more of the quantity. None where all ranks or all
        values are equal.

    Source:
        kobayashi-2020, the word-frequency analysis; interval: efron-1979, section 2.
    """
    from scipy.stats import rankdata

    first, second = rankdata(ranks), rankdata(values)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    first, second = (midranks / len(ranks) - 0.5 for midranks in (first, second))
    of_sequences = moments((first, second), np.ones_like(first), sequences)
    return correlation_of_moments(of_sequences, redrawn)


def correlation_of_moments(
    of_sequences: Float[np.ndarray, "unit 6"], redrawn: Units
) -> FrequencyCorrelation | None:
    """Spearman's ρ, its interval and its parts, from the rank moments of each sequence.

    Args:
        of_sequences: `moments` of the two ranks among all tokens, each divided by the number of
            tokens, less ½.

    Returns:
        As `rank_correlation`.

    Source:
        efron-1979, section 2.
    """
    n, *sums, first, second, _ = of_sequences.sum(axis=0)
    if min(np.array([first, second]) - np.square(sums) / n) < _NO_SPREAD:
        return None
    blocks = redrawn.sums(of_sequences)
    with np.errstate(invalid="ignore"):
        resampled = _correlation(redrawn.drawn.weights @ blocks)
    (low,), (high,) = redrawn.drawn.interval(resampled[:, None], blocks[:, :1] > 0)
    (spearman,) = _correlation(blocks.sum(axis=0)[None])
    parts = correlation_parts(of_sequences, redrawn=(redrawn, redrawn))
    return FrequencyCorrelation(float(spearman), float(low), float(high), parts)


def _correlation(moments: Float[np.ndarray, "resample 6"]) -> Float[np.ndarray, " resample"]:
    n, first, second, first_square, second_square, product = moments.T
    covariance = product - first * second / n
    return covariance / np.sqrt((first_square - first**2 / n) * (second_square - second**2 / n))
