"""Mantel's permutation tests on distances of heads: two distances compared, and layers."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.correlation_parts import Part, correlation_parts, moments

PERMUTATIONS = 9999
_DIGITS = 12  # the same numbers added up in another order differ in later ones
_AT_A_TIME = 64  # orders drawn at once


class Agreement(NamedTuple):
    """Spearman's ρ of two distances over all pairs of heads, with its p-value.

    `of_heads` holds ρ over the distances of each head to the others. `same_nearest` is True where
    both distances give a head the same nearest head.
    """

    spearman: float
    p_value: float
    n_permutations: int
    of_heads: Float[np.ndarray, " head"]
    same_nearest: Float[np.ndarray, " head"]


class LayerParts(NamedTuple):
    """Parts of ρ within and between pairs of layers, with a p-value for the part within.

    The parts of each head's own agreement follow: with heads of its layer, and with all others.
    """

    parts: tuple[Part, ...]
    p_value: float
    of_heads: list[tuple[Part, ...]]


def distance_agreement(
    one: Float[np.ndarray, "head head"], other: Float[np.ndarray, "head head"], *, seed: int
) -> Agreement | None:
    """Mantel's test on ranks: the heads of one matrix are shuffled, not its pairs.

    The p-value is the share of orders of the heads that give as large a ρ: (b + 1) / (B + 1) if b
    of B random orders do, or b / B over all B orders if these are fewer than 9,999.

    Args:
        one, other: symmetric, 0 on the diagonal, of the same heads.

    Returns:
        ρ with mid-ranks for ties; it and its p-value are NaN where either distance is constant over
        pairs; None for fewer than three heads, which have one distance.

    Source:
        mantel-1967, the test by permutation.

    Differs:
        Ranks replace the distances, whose sizes differ between the two.
    """
    n_heads = len(one)
    if n_heads < 3:
        return None
    pairs = np.triu_indices(n_heads, 1)
    first, second = (_standardised(distances[pairs]) for distances in (one, other))
    fixed, shuffled = _symmetric(first, n_heads), _symmetric(second, n_heads)

    def spearman(order: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(_sums_of_products(shuffled, fixed, order).round(_DIGITS))

    test = _permuted(spearman, n_heads, seed=seed)
    apart = ~np.eye(n_heads, dtype=bool)
    rows = [
        float(_standardised(a[mask]) @ _standardised(b[mask]))
        for a, b, mask in zip(one, other, apart, strict=True)
    ]
    return Agreement(
        float(first @ second),
        np.nan if np.isnan(first @ second) else float(test.pvalue),
        test.null_distribution.size,
        np.array(rows),
        (_nearest(one) == _nearest(other)).astype(np.float64),
    )


def layer_parts(
    one: Float[np.ndarray, "head head"],
    other: Float[np.ndarray, "head head"],
    layers: Int[np.ndarray, " head"],
    *,
    seed: int,
) -> LayerParts:
    """Split ρ into parts within and between pairs of layers; apply Mantel's test within layers.

    Distances between heads also depend on the distance of their layers; the part within a pair of
    layers does not. The p-value is the share of 9,999 orders in which heads stay in their layer
    that give as large a part within, as (b + 1) / (B + 1).

    Args:
        one, other: symmetric, 0 on the diagonal, of the same heads; three or more.
        layers: of the heads, in ascending order.

    Returns:
        Parts without intervals, NaN where either distance is the same for all pairs; no p-value
        where it is within every pair of layers.

    Source:
        robinson-1950, section on the relation of ecological and individual correlations;
        mantel-1967, the test by permutation.
    """
    n_heads = len(one)
    pairs = np.triu_indices(n_heads, 1)
    _, layer = np.unique(layers, return_inverse=True)
    joined = layer[pairs[0]] * n_heads + layer[pairs[1]]
    sides = [_standardised(distances[pairs]) for distances in (one, other)]
    parts = _parts(sides, joined)
    of_heads = [
        _parts([_standardised(side[head][others]) for side in (one, other)], layer[others])
        for head in range(n_heads)
        for others in [np.arange(n_heads) != head]
    ]
    if np.isnan(parts[0].spearman):
        return LayerParts(parts, np.nan, of_heads)
    fixed, shuffled = (_symmetric(_from_group_means(side, joined), n_heads) for side in sides)
    least = _sums_of_products(shuffled, fixed, np.arange(n_heads)).round(_DIGITS)
    generator, as_large = np.random.default_rng(seed), 0
    for start in range(0, PERMUTATIONS, _AT_A_TIME):
        size = (min(_AT_A_TIME, PERMUTATIONS - start), n_heads)
        order = np.argsort(layer + generator.random(size), axis=1)
        moved = _sums_of_products(shuffled, fixed, order).round(_DIGITS)
        as_large += int((moved >= least).sum())
    return LayerParts(parts, (as_large + 1) / (PERMUTATIONS + 1), of_heads)


def _symmetric(
    of_pairs: Float[np.ndarray, " value"], n_heads: int
) -> Float[np.ndarray, "head head"]:
    """Matrix of numbers of the pairs of heads, 0 on the diagonal."""
    matrix = np.zeros((n_heads, n_heads))
    matrix[np.triu_indices(n_heads, 1)] = of_pairs
    return matrix + matrix.T


def _sums_of_products(
    one: Float[np.ndarray, "head head"],
    other: Float[np.ndarray, "head head"],
    order: Int[np.ndarray, "*order head"],
) -> Float[np.ndarray, "*order"]:
    """Σ over pairs i < j of a_oᵢoⱼ b_ij: the heads of one of two symmetric matrices in an order o.

    Whole rows are moved on both sides, which is five times as fast as single numbers: with the
    inverse order p, Σ_ij a_oᵢoⱼ b_ij = Σ_ik a_oᵢk b_pₖi.
    """
    orders = order.reshape(-1, len(one))
    sums = [
        np.einsum("ik,ki->", one[moved], other[back])
        for moved, back in zip(orders, orders.argsort(axis=1), strict=True)
    ]
    return np.reshape(np.array(sums) / 2, order.shape[:-1])


def _parts(sides: list[Float[np.ndarray, " value"]], groups: np.ndarray) -> tuple[Part, ...]:
    if np.isnan(sides).any():
        return (Part(np.nan, np.nan, np.nan, np.nan),) * 2
    _, group = np.unique(groups, return_inverse=True)
    return correlation_parts(moments(sides, np.ones(len(group)), group))


def _from_group_means(
    values: Float[np.ndarray, " value"], groups: np.ndarray
) -> Float[np.ndarray, " value"]:
    _, group = np.unique(groups, return_inverse=True)
    return values - (np.bincount(group, values) / np.bincount(group))[group]


def _standardised(values: Float[np.ndarray, " value"]) -> Float[np.ndarray, " value"]:
    """Ranks of mean 0 and length 1; NaN where all values are the same."""
    from scipy.stats import rankdata

    ranks = rankdata(values)
    centred = ranks - ranks.mean()
    length = np.sqrt(centred @ centred)
    return centred / length if length else np.full_like(centred, np.nan)


def _nearest(distances: Float[np.ndarray, "head head"]) -> np.ndarray:
    return np.asarray((distances + np.diag(np.full(len(distances), np.inf))).argmin(axis=1))


class Cohesion(NamedTuple):
    """Mean distances within and between layers, with the p-value of their difference.

    `n_permutations` is the number of permutations behind `p_value`.
    """

    within: float
    between: float
    difference: float
    p_value: float
    n_permutations: int


def layer_cohesions(
    distances: Float[np.ndarray, "head head"], layers: Int[np.ndarray, " head"], *, seed: int
) -> dict[int | None, Cohesion]:
    """Mean distance of heads of different layers minus that of two heads of the same layer.

    Of a layer, with a head of it in every pair; of all pairs under None. The p-value is the share
    of ways to assign layers to heads that give as large a difference: (b + 1) / (B + 1) if b of B
    random ways do, or b / B over all B ways if these are fewer than 9,999. All layers share the
    ways.

    Returns:
        Distances in their unit, by layer; none for layers of one head, nothing where all are, or
        where there is one layer.

    Source:
        clark-2019, section 6, which sees it in the plane; the test is that of mantel-1967.
    """
    numbers = np.unique(layers)
    groups = [np.flatnonzero(layers == number) for number in numbers]
    if len(groups) < 2 or all(len(group) < 2 for group in groups):
        return {}
    of_order = partial(_means, distances, groups)

    def difference(order: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.diff(of_order(order), axis=0)[0].round(_DIGITS))

    test = _permuted(difference, len(layers), seed=seed)
    within, between = of_order(np.arange(len(layers)))
    n_permutations, cohesions = len(test.null_distribution), dict[int | None, Cohesion]()
    counted = [*numbers.tolist(), None], [*map(len, groups), len(layers)]
    for number, size, *values in zip(*counted, within, between, test.pvalue, strict=True):
        inside, outside, p_value = map(float, values)
        if size > 1:
            cohesions[number] = Cohesion(inside, outside, outside - inside, p_value, n_permutations)
    return cohesions


def _means(
    distances: Float[np.ndarray, "head head"], groups: list[np.ndarray], order: np.ndarray
) -> Float[np.ndarray, "2 *order group"]:
    """Return mean distances within each group, and of its heads to all others; then of all groups.

    Args:
        order: along its last axis, the head that takes the place of each.
    """
    of_heads, size = distances.sum(axis=1), np.array([len(group) for group in groups])
    inside = np.stack([_sum_inside(distances, order[..., group]) for group in groups], axis=-1)
    whole = np.stack([of_heads[order[..., group]].sum(axis=-1) for group in groups], axis=-1)
    sums = np.stack([inside, whole - inside])
    n_pairs = np.stack([size * (size - 1), size * (len(distances) - size)])
    sums, n_pairs = (np.append(of, of.sum(axis=-1, keepdims=True), -1) for of in (sums, n_pairs))
    n_pairs = np.maximum(n_pairs, 1)  # a group of one head has no pair within
    return sums / np.expand_dims(n_pairs, tuple(range(1, sums.ndim - 1)))


def _sum_inside(distances: np.ndarray, heads: np.ndarray) -> np.ndarray:
    return np.asarray(distances[heads[..., :, None], heads[..., None, :]].sum(axis=(-2, -1)))


def _permuted(statistic: Callable[..., np.ndarray], n_heads: int, *, seed: int) -> Any:
    """Return SciPy's permutation test of a statistic of orders of the heads, one-sided."""
    from scipy.stats import permutation_test  # here: it takes a second, which pages need not wait

    return permutation_test(
        (np.arange(n_heads),),
        statistic,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
