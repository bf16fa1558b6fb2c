"""Whether a step amplifies pairs of tokens that go together."""

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

LEAST_PAIRS = 3


def spearman(first: Float[np.ndarray, " row"], second: Float[np.ndarray, " row"]) -> float | None:
    """Spearman's ρ of two quantities, with mid-ranks for ties.

    Returns:
        −1 to 1; None where there are fewer than 3 rows or one quantity never varies.

    Source:
        kobayashi-2024, section 5.2: which pairs change; PMI is the comparison S1 leaves open.
    """
    if len(first) < LEAST_PAIRS:
        return None
    ranks = np.stack([rankdata(first), rankdata(second)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.sqrt((ranks**2).sum(axis=1))
    if not lengths.all():
        return None
    return float(ranks[0] @ ranks[1] / (lengths[0] * lengths[1]))
