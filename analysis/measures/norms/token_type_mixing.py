"""Means over sequences."""

import numpy as np
from jaxtyping import Bool, Float

from analysis.measures.bootstrap import means_of_sums


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
    return means_of_sums(np.where(present, values, 0.0), present.astype(np.float64), weights)
