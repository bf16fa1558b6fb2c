"""Rank correlation between relevance maps."""

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata


def relevance_agreement(maps: Float[np.ndarray, "rule token"]) -> Float[np.ndarray, "rule rule"]:
    """Spearman's ρ of every two maps, with mid-ranks.

    Returns:
        −1 to 1, symmetric with a diagonal of 1; NaN where either map is constant.

    Source:
        sawaki-2025, which compares the rules' maps by eye; the coefficient is that of
        kobayashi-2024, section 4.1.
    """
    ranks = rankdata(maps, axis=1)
    ranked = np.ptp(ranks, axis=1) > 0
    correlations = np.full((len(maps), len(maps)), np.nan)
    if ranked.any():
        correlations[np.ix_(ranked, ranked)] = np.atleast_2d(np.corrcoef(ranks[ranked]))
    return correlations
