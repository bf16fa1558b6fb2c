"""Rank correlation of two quantities from the counts of their joint histogram."""

import numpy as np
from jaxtyping import Float, Int

LEAST_BINS = 8


def histogram_spearman(
    first: Int[np.ndarray, " row"],
    second: Int[np.ndarray, " row"],
    counts: Int[np.ndarray, " row"],
) -> float | None:
    """Spearman's ρ with mid-ranks, everything within one bin being a tie.

    Args:
        first: bin of the first quantity, one entry per occupied cell; bins are in rank order.
        second: bin of the second quantity.
        counts: how many pairs fell into the cell.

    Returns:
        −1 to 1; None where either quantity fills a single bin, so that there is nothing to rank.

    Source:
        kobayashi-2020, section 5.3, table 3.

    Differs:
        Ranks are those of bins, which loses the order within a bin. By token type the loss is
        below 0.001, by head it can be larger: docs/limits.md holds what real pairs showed.
    """
    counts = counts.astype(np.float64)
    first_ranks, second_ranks = (centred_midranks(bins, counts) for bins in (first, second))
    variances = counts @ first_ranks**2, counts @ second_ranks**2
    if min(variances) == 0:
        return None
    covariance = counts @ (first_ranks * second_ranks)
    return float(covariance / np.sqrt(variances[0] * variances[1]))


def can_be_ranked(bins: Int[np.ndarray, " row"], counts: Int[np.ndarray, " row"]) -> bool:
    """Return True if a quantity fills enough bins for a trustworthy rank correlation.

    Counts effective bins, (Σw)² / Σw² of the bins' counts w, which is K for K equally filled bins.
    Some heads give all tokens of a type nearly one norm, down to the last digits. Its order is then
    noise, and fewer than 8 bins are too few.

    Source:
        kobayashi-2020, section 5.3, table 3, for the ranked quantities.
    """
    weight = np.bincount(bins, weights=counts.astype(np.float64))
    return bool(weight.sum() ** 2 >= LEAST_BINS * (weight @ weight))


def centred_midranks(
    bins: Int[np.ndarray, " row"], counts: Float[np.ndarray, " row"]
) -> Float[np.ndarray, " row"]:
    """Mid-rank of each row's bin as a share of all pairs, less that of the middle: −½ to ½.

    Source:
        kobayashi-2020, section 5.3, table 3, for the ranked quantities.
    """
    weight = np.bincount(bins, weights=counts)
    rank = np.cumsum(weight) - weight / 2
    return (rank / weight.sum() - 0.5)[bins]
