"""Whether a step amplifies pairs of tokens that go together."""

from typing import Any, cast

import numpy as np
from jaxtyping import Float
from scipy.stats import spearmanr

LEAST_PAIRS = 3


def spearman(first: Float[np.ndarray, " row"], second: Float[np.ndarray, " row"]) -> float | None:
    """Spearman's ρ of two quantities, with mid-ranks for ties.

    Returns:
        −1 to 1; None where there are fewer than 3 rows or one quantity never varies.

    Source:
        kobayashi-2024, section 5.2: which pairs change; PMI is the comparison S1 leaves open.
    """
    if len(first) < LEAST_PAIRS or not np.ptp(first) or not np.ptp(second):
        return None
    return float(cast(Any, spearmanr(first, second)).statistic)
