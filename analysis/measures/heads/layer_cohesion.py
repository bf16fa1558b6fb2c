"""Distances between heads of one layer compared with those between layers."""

from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import permutation_test

PERMUTATIONS = 9999
_DIGITS = 12  # the same distances added up in another order differ in later ones


class Cohesion(NamedTuple):
    """Mean distances within and between layers, with the p-value of their difference.

    `n_permutations` is the number of permutations behind `p_value`.
    """

    within: float
    between: float
    difference: float
    p_value: float
    n_permutations: int


def layer_cohesion(
    distances: Float[np.ndarray, "head head"],
    layers: Int[np.ndarray, " head"],
    *,
    layer: int | None = None,
    seed: int,
) -> Cohesion | None:
    """Mean distance of heads of different layers minus that of two heads of the same layer.

    The p-value is the share of ways to assign layers to heads that give as large a difference: (b +
    1) / (B + 1) if b of B random ways do, or b / B over all B ways if these are fewer than 9,999.

    Args:
        layer: a single layer, with a head of it in every pair; None counts all pairs.

    Returns:
        Distances in their unit; None where layers have one head, or there is one layer.

    Source:
        clark-2019, section 6, which sees it in the plane; the test is that of mantel-1967.
    """
    counted = np.unique(layers) if layer is None else np.array([layer])
    groups = [np.flatnonzero(layers == number) for number in counted]
    if len(np.unique(layers)) < 2 or all(len(group) < 2 for group in groups):
        return None
    of_order = partial(_means, distances, groups)
    test = permutation_test(
        (np.arange(len(layers)),),
        lambda order, axis: np.diff(of_order(order), axis=0)[0].round(_DIGITS),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    within, between = (float(mean) for mean in of_order(np.arange(len(layers))))
    return Cohesion(
        within, between, between - within, float(test.pvalue), test.null_distribution.size
    )


def _means(
    distances: Float[np.ndarray, "head head"], groups: list[np.ndarray], order: np.ndarray
) -> np.ndarray:
    """Return mean distances within groups, and between the heads of a group and all others.

    Args:
        order: along its last axis, the head that takes the place of each.
    """
    inside = np.sum([_sum_inside(distances, order[..., group]) for group in groups], axis=0)
    n_inside = sum(len(group) * (len(group) - 1) for group in groups)
    members = np.concatenate(groups)
    n_heads = len(distances)
    across = distances.sum(axis=1)[order[..., members]].sum(axis=-1) - inside
    n_across = sum(len(group) * (n_heads - len(group)) for group in groups)
    return np.stack([inside / n_inside, across / n_across])


def _sum_inside(distances: np.ndarray, heads: np.ndarray) -> np.ndarray:
    return np.asarray(distances[heads[..., :, None], heads[..., None, :]].sum(axis=(-2, -1)))
