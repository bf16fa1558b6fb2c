"""Correlation of a step's effect on pairs of tokens with their PMI, with intervals for word
pairs."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.measures.pairs.partial_rank_correlation import Ranked, partial_rank_correlation

LEAST_WORDS = 100
"""Fewest words for an interval; with fewer independent words, intervals are too short."""


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
