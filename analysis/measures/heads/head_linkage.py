"""Hierarchical clustering of heads by average linkage."""

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform


def head_linkage(distances: Float[np.ndarray, "head head"]) -> Float[np.ndarray, "row 4"]:
    """Average linkage: two groups are as far apart as their heads are on average.

    Args:
        distances: symmetric, 0 on the diagonal.

    Returns:
        One row per step: the two groups joined, their distance, and the heads in both. Groups 0 to
        N − 1 are the heads, group N + s is the result of step s. Branches are flipped so that
        neighbours among the leaves are similar. Empty for fewer than two heads.

    Source:
        sokal-1958, the method of unweighted averages.

    Differs:
        clark-2019, section 6 looks for groups by eye, in the plane.
    """
    if len(distances) < 2:
        return np.empty((0, 4))
    condensed = squareform(distances, checks=False)
    return linkage(condensed, method="average", optimal_ordering=True)
