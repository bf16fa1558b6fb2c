"""Partial rank correlation of two quantities, and its interval over pairs of words."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL

LEAST_WORDS = 100
"""Fewest words for an interval; with fewer independent words, intervals are too short."""
_VARIES = 1e-9  # a residual of ranks, which lie between 0 and 1, below it is rounding


class Ranked(NamedTuple):
    """Ranks of a quantity, for repeated comparison with others."""

    place: Int[np.ndarray, " row"]
    """Index of the row's value among the distinct values, counted from 0."""
    rank: Float[np.ndarray, " row"]
    """Mid-rank over the number of rows: the share of rows below plus half of the ties."""


def ranked(values: Float[np.ndarray, " row"] | Int[np.ndarray, " row"]) -> Ranked:
    """Return the mid-ranks of a quantity.

    Source:
        croux-2010, section 2; ties have the mean of their ranks.
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return Ranked(place, ((np.cumsum(count) - count / 2) / max(len(values), 1))[place])


def partial_rank_correlation(
    first: Ranked, second: Ranked, given: tuple[Ranked, ...] = ()
) -> tuple[float, Float[np.ndarray, " row"]] | None:
    """Partial ρ, and the influence of each row on it.

    Both mid-ranks are regressed linearly, with an intercept, on the mid-ranks of the given
    quantities; ρ is Pearson's correlation of the two residuals. Without given quantities it is
    Spearman's ρ.

    Returns:
        ρ from −1 to 1, and each row's influence on it, which sum to 0: its contribution to the
        moments of the residuals, and that through the ranks of all other rows. None where there are
        fewer than 3 rows more than quantities given, or a residual never varies.

    Source:
        croux-2010, section 2, of ρ without anything given.

    Differs:
        Ties have mid-ranks; the ranks of given quantities move with the rows too.
    """
    n = len(first.rank)
    if n < 3 + len(given):
        return None
    ranks = np.column_stack([first.rank, second.rank])
    design = np.column_stack([np.ones(n), *(control.rank for control in given)])
    slopes = np.linalg.lstsq(design, ranks, rcond=None)[0]
    residuals = ranks - design @ slopes
    scale = residuals.std(axis=0)
    if scale.min() <= _VARIES:
        return None
    one, other = (residuals / scale).T
    correlation = float(np.clip((one * other).mean(), -1, 1))
    slope = (other - correlation * one) / scale[0], (one - correlation * other) / scale[1]
    influence = one * other - correlation / 2 * (one**2 + other**2)
    influence += _through_ranks(first, slope[0]) + _through_ranks(second, slope[1])
    for quantity, (of_first, of_second) in zip(given, slopes[1:], strict=True):
        influence -= _through_ranks(quantity, of_first * slope[0] + of_second * slope[1])
    return correlation, influence - influence.mean()


def _through_ranks(quantity: Ranked, slope: Float[np.ndarray, " row"]) -> Float[np.ndarray, " row"]:
    """Influence of a row on ρ through the ranks of other rows: all above it, and half of its ties.

    Args:
        slope: derivative of ρ by the rank of each row.
    """
    of_place = np.bincount(quantity.place, slope)
    above = of_place.sum() - np.cumsum(of_place) + of_place / 2
    return (above / len(slope))[quantity.place]


class WordPairs(NamedTuple):
    """Ordered pairs of words, numbered so that pairs that share words are found."""

    source: Int[np.ndarray, " row"]
    target: Int[np.ndarray, " row"]
    unordered: Int[np.ndarray, " row"]
    """Number of the pair regardless of order: a pair and its reverse share one."""
    n_words: int


class Correlation(NamedTuple):
    """Spearman's ρ and its 95% interval, NaN where there is none."""

    spearman: float
    low: float
    high: float


def word_pairs(source: Int[np.ndarray, " row"], target: Int[np.ndarray, " row"]) -> WordPairs:
    """Return the pairs with their words numbered from 0.

    Source:
        aronow-2015, section 3: pairs as dyads of two members.
    """
    words, places = np.unique(np.stack([source, target]), return_inverse=True)
    ends = places.reshape(2, -1)
    low, high = ends.min(axis=0), ends.max(axis=0)
    _, unordered = np.unique(low * len(words) + high, return_inverse=True)
    return WordPairs(ends[0], ends[1], unordered, len(words))


def correlation(
    first: Ranked, second: Ranked, given: tuple[Ranked, ...], pairs: WordPairs
) -> Correlation | None:
    """Partial ρ over pairs of words, with an interval for pairs that share words.

    On Fisher's scale it reaches t standard errors to either side, with one degree of freedom less
    than there are words. It covers the variation of ρ over other words, not over other texts of the
    same words.

    Returns:
        None where ρ is not defined; no interval below `LEAST_WORDS` words, or where |ρ| is 1.

    Source:
        aronow-2015, section 3, the variance; croux-2010, section 2, the influence of each pair;
        kobayashi-2024, section 5.2, which leaves PMI open and has neither.
    """
    estimate = partial_rank_correlation(first, second, given)
    if estimate is None:
        return None
    spearman, influence = estimate
    if pairs.n_words < LEAST_WORDS or 1 - spearman**2 <= 0:
        return Correlation(spearman, np.nan, np.nan)
    error = np.sqrt(dyadic_variance(influence, pairs)) / (1 - spearman**2)
    reach = stdtrit(pairs.n_words - 1, (1 + LEVEL) / 2) * error
    low, high = np.tanh(np.arctanh(spearman) + np.array([-reach, reach]))
    return Correlation(spearman, float(low), float(high))


def dyadic_variance(influence: Float[np.ndarray, " row"], pairs: WordPairs) -> float:
    """Variance of a mean over pairs when any two pairs that share a word may be correlated.

    Σ ψ_d ψ_e / n² over all ordered pairs of rows d, e with a word in common, on either side: the
    squared sums by word, less what is counted twice since both words are shared.

    Returns:
        That sum, or the variance of independent rows where that is larger, since the sum may come
        out too small, and even below 0.

    Source:
        aronow-2015, section 3, equation for directed dyads.
    """
    two_words = pairs.source != pairs.target
    at_source = np.bincount(pairs.source, influence, pairs.n_words)
    at_target = np.bincount(pairs.target, influence * two_words, pairs.n_words)
    twice = np.bincount(pairs.unordered, influence * two_words)
    shared = ((at_source + at_target) ** 2).sum() - (twice**2).sum()
    return max(shared, (influence**2).sum()) / len(influence) ** 2
