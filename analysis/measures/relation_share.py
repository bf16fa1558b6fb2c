"""How a relation's share of what a step changes compares with its share of the mixing before."""

import numpy as np
from jaxtyping import Float

from analysis.measures.token_type_mixing import percentile_interval, sequence_draws

LEAST_SEQUENCES = 10


def mean_ratios(
    shares: Float[np.ndarray, "sequence cell"],
    before: Float[np.ndarray, "sequence cell"],
    *,
    seed: int,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Mean share over mean share before, both of the same sequences, with its interval.

    A sequence that is drawn brings both of its shares, so that the interval is that of the
    comparison and not of one of its sides: it holds 1 if and only if that of the difference of the
    two means holds 0.

    Args:
        shares: a relation's share of a sequence's total; NaN where there is nothing to share.
        before: its share of the sequence's mixing before the step; NaN alike.

    Returns:
        Ratios, NaN where the relation holds nothing before; lower and upper end of their central
        95 %, percentile bootstrap over sequences, NaN below `LEAST_SEQUENCES`.

    Source:
        efron-1979, section 2; kobayashi-2024, section 5.2, has no baseline.
    """
    both = ~np.isnan(shares) & ~np.isnan(before)
    above, below = (np.where(both, each, 0.0) for each in (shares, before))
    draws = sequence_draws(len(shares), seed=seed)
    every = np.ones((1, len(shares)))
    ends = percentile_interval(_ratio(draws @ above, draws @ below))
    sure = both.sum(axis=0) >= LEAST_SEQUENCES
    low, high = (np.where(sure, each, np.nan) for each in ends)
    return _ratio(every @ above, every @ below)[0], low, high


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
