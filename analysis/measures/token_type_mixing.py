"""Means over sequences, and how far they would move with other sequences."""

import numpy as np
from jaxtyping import Bool, Float

LEVEL = 0.95
RESAMPLES = 1000


def sequence_means(
    values: Float[np.ndarray, "sequence cell"],
    present: Bool[np.ndarray, "sequence cell"],
    weights: Float[np.ndarray, "resample sequence"],
) -> Float[np.ndarray, "resample cell"]:
    """Weighted means over the sequences in which a cell is present.

    Returns:
        In the unit of the values; NaN where no weight falls on a sequence that has the cell.

    Source:
        kobayashi-2020, section 5.4: the unweighted mean over sequences, at weights of 1.

    Differs:
        A sequence without a token type counts for nothing in the mean of ‖f(x)‖; the published
        script yields NaN there.
    """
    total = weights @ np.where(present, values, 0.0)
    count = weights @ present.astype(np.float64)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def bootstrap_interval(
    values: Float[np.ndarray, "sequence cell"],
    present: Bool[np.ndarray, "sequence cell"],
    *,
    seed: int,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Percentile bootstrap of `sequence_means`, sequences being drawn with replacement.

    Tokens of one sequence are not independent, so whole sequences are drawn; every cell sees the
    same draws.

    Returns:
        Lower and upper end of the central 95 %; NaN where a cell is never present.

    Source:
        efron-1979, section 2; the papers give no intervals.
    """
    means = sequence_means(values, present, sequence_draws(len(values), seed=seed))
    return percentile_interval(means)


def sequence_draws(n: int, *, seed: int) -> Float[np.ndarray, "resample sequence"]:
    """How often each of n sequences is drawn when n are drawn with replacement.

    Source:
        efron-1979, section 2.
    """
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    return draws.astype(np.float64)


def percentile_interval(
    means: Float[np.ndarray, "resample cell"],
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Lower and upper end of the central 95 % of resampled means; NaN where none is a number.

    Source:
        efron-1979, section 2.
    """
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    ever = ~np.isnan(means).all(axis=0)
    ends = np.full((2, means.shape[1]), np.nan)
    if ever.any():
        ends[:, ever] = np.nanquantile(means[:, ever], tails, axis=0)
    return ends[0], ends[1]
