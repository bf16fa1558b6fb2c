"""A rank correlation as the sum of its parts within groups and between them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from analysis.measures.bootstrap import Redraws, redraws

_NO_SPREAD = 1e-9  # of the variance of all: less is round-off


class Units(NamedTuple):
    """Units that are redrawn for an interval, and the unit of each group."""

    drawn: Redraws
    of_group: Int[np.ndarray, " unit"]

    def sums(
        self, of_groups: Float[np.ndarray, "unit column"]
    ) -> Float[np.ndarray, "block column"]:
        """Return the sums over the groups of each unit."""
        return np.stack([np.bincount(self.of_group, column) for column in of_groups.T], axis=1)


class Part(NamedTuple):
    """Contribution of one level to a correlation; and the correlation on that level alone, with its
    95% interval. NaN where there is none."""

    contribution: float
    spearman: float
    low: float
    high: float


def single_units(n: int, *, seed: int) -> Units:
    """Resamples with every group as a unit.

    Source:
        efron-1979, section 2.
    """
    numbers = np.arange(n)
    return Units(redraws(numbers, seed=seed), numbers)


def moments(
    ranks: Sequence[Float[np.ndarray, " row"]],
    counts: Float[np.ndarray, " row"],
    groups: Int[np.ndarray, " row"],
) -> Float[np.ndarray, "unit 6"]:
    """Return the size of each group, and Σ r, Σ s, Σ r², Σ s² and Σ rs of both sides' ranks.

    Args:
        ranks: r and s.
        counts: how often each row counts.
        groups: which group each row is of, counted from 0.

    Source:
        robinson-1950, section on the relation of ecological and individual correlations.
    """
    first, second = ranks
    sums = (np.ones_like(first), first, second, first * first, second * second, first * second)
    return np.stack([np.bincount(groups, weights=counts * values) for values in sums], axis=1)


def correlation_parts(
    of_groups: Float[np.ndarray, "unit 6"],
    outer: Sequence[Int[np.ndarray, " unit"]] = (),
    redrawn: Sequence[Units] = (),
) -> tuple[Part, ...]:
    """Split a correlation into its parts within groups and between them, level by level.

    By the law of total covariance the covariance of all values is the sum of the mean covariance
    within groups, that of the groups' means within larger groups, and so on, each value counting
    once. Divided by the standard deviations of all values, these add up to the correlation of all.
    Divided by the standard deviations of their own level, they are correlations themselves.

    An interval resamples the groups whose deviations a part adds up; ranks and means stay fixed.

    Args:
        of_groups: `moments` of the smallest groups, of ranks among all values.
        outer: which larger group each of the groups before is of, counted from 0.
        redrawn: what is redrawn for each part, from within the smallest groups to between the
            largest; parts beyond the last have no interval.

    Returns:
        One part more than there are levels of groups. The correlation of a part is NaN where either
        side has no spread there.

    Source:
        robinson-1950, section on the relation of ecological and individual correlations; interval:
        efron-1979, section 2.
    """
    levels = [of_groups]
    for groups in outer:
        levels.append(np.stack([np.bincount(groups, column) for column in levels[-1].T], axis=1))
    every = levels[-1].sum(axis=0, keepdims=True)
    holders = [*outer, np.zeros(len(levels[-1]), dtype=np.int64)]
    terms = [_within(of_groups)]
    for own, held, holder in zip(levels, [*levels[1:], every], holders, strict=True):
        terms.append(_between(own, held[holder]))
    spreads = np.sum([unit_terms.sum(axis=0) for unit_terms in terms], axis=0)
    units = [*redrawn, *[None] * (len(terms) - len(redrawn))]
    return tuple(_part(part, spreads, of) for part, of in zip(terms, units, strict=True))


def _within(group: Float[np.ndarray, "unit 6"]) -> Float[np.ndarray, "unit 3"]:
    """Sums of r s, r² and s² of the deviations from a group's means."""
    n, first, second, first_square, second_square, product = group.T
    sums = product - first * second / n, first_square - first**2 / n, second_square - second**2 / n
    return np.stack(sums, axis=1)


def _between(
    group: Float[np.ndarray, "unit 6"], holder: Float[np.ndarray, "unit 6"]
) -> Float[np.ndarray, "unit 3"]:
    """Moments of the groups' means around the means of their larger groups, once for every
    value."""
    first, second = (group[:, 1:3] / group[:, :1] - holder[:, 1:3] / holder[:, :1]).T
    return group[:, :1] * np.stack([first * second, first**2, second**2], axis=1)


def _part(
    terms: Float[np.ndarray, "unit 3"],
    spreads: Float[np.ndarray, " 3"],
    units: Units | None,
) -> Part:
    covariance, *variances = terms.sum(axis=0)
    contribution = float(covariance / np.sqrt(spreads[1] * spreads[2]))
    if min(np.array(variances) / spreads[1:]) < _NO_SPREAD:
        return Part(contribution, np.nan, np.nan, np.nan)
    low = high = np.nan
    if units is not None:
        of_units = units.sums(terms)
        resampled = _correlation(units.drawn.weights @ of_units)
        every_unit = np.ones((len(of_units), 1), dtype=bool)
        (low,), (high,) = units.drawn.interval(resampled[:, None], every_unit)
    return Part(contribution, float(_correlation(terms.sum(axis=0))), float(low), float(high))


def _correlation(terms: Float[np.ndarray, "*any 3"]) -> Float[np.ndarray, "*any"]:
    """NaN where a side has no spread, as in a resample of units that have none."""
    scale = np.sqrt(np.maximum(terms[..., 1] * terms[..., 2], 0))
    return np.divide(terms[..., 0], scale, out=np.full(scale.shape, np.nan), where=scale > 0)
