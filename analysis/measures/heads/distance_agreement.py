"""Whether two ways to compare heads find the same heads alike."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import permutation_test, rankdata

PERMUTATIONS = 9999
_DIGITS = 12  # the same ranks added up in another order differ in later ones
_AT_A_TIME = 64  # permutations whose pairs are in memory


class Agreement(NamedTuple):
    """Spearman's ρ of two distances over all pairs of heads, and how often chance does as well.

    `of_heads` are those of each head's distances to the others, `same_nearest` says of each whether
    its nearest head is the same by both.
    """

    spearman: float
    p_value: float
    n_permutations: int
    of_heads: Float[np.ndarray, " head"]
    same_nearest: Float[np.ndarray, " head"]


def distance_agreement(
    one: Float[np.ndarray, "head head"], other: Float[np.ndarray, "head head"], *, seed: int
) -> Agreement | None:
    """Mantel's test on ranks: the heads of one matrix are shuffled, not its pairs.

    The p-value is the share of orders of the heads that give as large a ρ: (b + 1) / (B + 1) over
    B random ones of which b do, or b / B over all B there are where these are fewer than 9,999.

    Args:
        one, other: symmetric, 0 on the diagonal, of the same heads.

    Returns:
        ρ with mid-ranks for ties; it and its p-value are NaN where either distance is the same for
        all pairs; None of fewer than three heads, which have one distance.

    Source:
        mantel-1967, the test by permutation.

    Differs:
        Ranks take the place of the distances, whose sizes differ between the two.
    """
    n_heads = len(one)
    if n_heads < 3:
        return None
    pairs = np.triu_indices(n_heads, 1)
    first, second = (_standardised(distances[pairs]) for distances in (one, other))
    shuffled = np.zeros((n_heads, n_heads))
    shuffled[pairs] = second
    shuffled += shuffled.T

    def spearman(order: np.ndarray, axis: int) -> np.ndarray:
        moved = shuffled[order[..., pairs[0]], order[..., pairs[1]]]
        return np.asarray((moved @ first).round(_DIGITS))

    test = permutation_test(
        (np.arange(n_heads),),
        spearman,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=_AT_A_TIME,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    apart = ~np.eye(n_heads, dtype=bool)
    rows = [
        float(_standardised(a[mask]) @ _standardised(b[mask]))
        for a, b, mask in zip(one, other, apart, strict=True)
    ]
    return Agreement(
        float(first @ second),
        np.nan if np.isnan(first @ second) else float(test.pvalue),
        test.null_distribution.size,
        np.array(rows),
        (_nearest(one) == _nearest(other)).astype(np.float64),
    )


def _standardised(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " value"]:
    """Ranks of mean 0 and length 1; NaN where all values are the same."""
    ranks = rankdata(values)
    centred = ranks - ranks.mean()
    length = np.sqrt(centred @ centred)
    return centred / length if length else np.full_like(centred, np.nan)


def _nearest(distances: Float[np.ndarray, "head head"]) -> np.ndarray:
    return np.asarray((distances + np.diag(np.full(len(distances), np.inf))).argmin(axis=1))
