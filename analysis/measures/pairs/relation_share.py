"""Share of a relation in a step's change compared with its share in the mixing before."""

import numpy as np
from jaxtyping import Float

from analysis.measures.bootstrap import Redraws


def mean_ratios(
    shares: Float[np.ndarray, "sequence cell"],
    before: Float[np.ndarray, "sequence cell"],
    drawn: Redraws,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Mean share over mean share before, both of the same sequences, with its interval.

    A resampled sequence brings both of its shares, so the interval is that of the comparison: it
    holds 1 if and only if that of the difference of the two means holds 0.

    Args:
        shares: a relation's share of a sequence's total; NaN where there is nothing to share.
        before: its share of the sequence's mixing before the step; NaN alike.

    Returns:
        Ratios, NaN where the relation holds nothing before; lower and upper end of their central
        95%, NaN where too few units have both.

    Source:
        efron-1979, section 2; kobayashi-2024, section 5.2, has no baseline.
    """
    both = ~np.isnan(shares) & ~np.isnan(before)
    above, below = (np.where(both, values, 0.0) for values in (shares, before))
    low, high = drawn.interval(_ratio(drawn.weights @ above, drawn.weights @ below), both)
    every = np.ones((1, len(shares)))
    return _ratio(every @ above, every @ below)[0], low, high


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
