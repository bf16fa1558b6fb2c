"""Arrangement of heads by their distances: points of a plane, and a tree of groups."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float


class Layout(NamedTuple):
    """One point per head, and the stress-1 between the points' distances and those of the heads."""

    points: Float[np.ndarray, "head 2"]
    stress: float | None


def head_layout(distances: Float[np.ndarray, "head head"]) -> Layout | None:
    """Metric multidimensional scaling in two dimensions, from the plane of classical scaling.

    Rotation and reflection are free. The axis with the largest variation is made horizontal, and
    the farthest point on either axis gets a positive coordinate.

    Args:
        distances: symmetric, 0 on the diagonal.

    Returns:
        Points in the unit of the distances, around 0, with Kruskal's stress-1: the root of the sum
        of squared differences over the sum of squared distances of the points. The stress is None
        where no two heads differ; all is None of fewer than two heads.

    Source:
        clark-2019, section 6; the stress is that of kruskal-1964.

    Differs:
        The released code begins at random points without a seed, so its coordinates are another
        picture on every run.
    """
    from sklearn.manifold import MDS  # here, as all of SciPy: pages need not wait for them
    from threadpoolctl import threadpool_limits

    if len(distances) < 2:
        return None
    if not distances.any():
        return Layout(np.zeros((len(distances), 2)), None)
    settings: Any = {"init": "classical_mds", "normalized_stress": True}
    scaling: Any = MDS(2, metric="precomputed", **settings)
    with threadpool_limits(limits=1):  # several threads add up in an order of their own
        points = scaling.fit_transform(distances)
        return Layout(_oriented(points), float(scaling.stress_))


def _oriented(points: Float[np.ndarray, "head 2"]) -> Float[np.ndarray, "head 2"]:
    centred = points - points.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    farthest = turned[np.abs(turned).argmax(axis=0), [0, 1]]
    return turned * np.where(farthest < 0, -1.0, 1.0)


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
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(distances) < 2:
        return np.empty((0, 4))
    condensed = squareform(distances, checks=False)
    return linkage(condensed, method="average", optimal_ordering=True)
