"""Spearman's ρ of two quantities given others, and what each observation adds to it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

_VARIES = 1e-9  # a residual of ranks, which lie between 0 and 1, below it is rounding


class Ranked(NamedTuple):
    """A quantity in the order of its values, as often used as it is compared with others."""

    place: Int[np.ndarray, " row"]
    """Which of the different values it is, counted from 0."""
    rank: Float[np.ndarray, " row"]
    """Mid-rank over the number of rows: the share of rows below, and half of those alike."""


def ranked(values: Float[np.ndarray, " row"] | Int[np.ndarray, " row"]) -> Ranked:
    """The mid-ranks of a quantity.

    Source:
        croux-2010, section 2; ties have the mean of their ranks.
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return Ranked(place, ((np.cumsum(count) - count / 2) / max(len(values), 1))[place])


def partial_rank_correlation(
    first: Ranked, second: Ranked, given: tuple[Ranked, ...] = ()
) -> tuple[float, Float[np.ndarray, " row"]] | None:
    """Partial ρ, and how it moves with the weight of each row.

    Both mid-ranks are regressed linearly, with an intercept, on the mid-ranks of what is given;
    ρ is Pearson's correlation of the two residuals. Without anything given it is Spearman's ρ.

    Returns:
        ρ from −1 to 1, and each row's influence on it, which sum to 0: what the row adds to the
        moments of the residuals, and by what it adds to the ranks of all others. None where there
        are fewer than 3 rows more than quantities given, or a residual never varies.

    Source:
        croux-2010, section 2, of ρ without anything given.

    Differs:
        Ties have mid-ranks; the ranks of what is given move with the rows too.
    """
    n = len(first.rank)
    if n < 3 + len(given):
        return None
    ranks = np.column_stack([first.rank, second.rank])
    design = np.column_stack([np.ones(n), *(control.rank for control in given)])
    slopes = np.linalg.lstsq(design, ranks, rcond=None)[0]
    residuals = ranks - design @ slopes
    scale = residuals.std(axis=0)
    if scale.min() <= _VARIES:
        return None
    one, other = (residuals / scale).T
    correlation = float(np.clip((one * other).mean(), -1, 1))
    slope = (other - correlation * one) / scale[0], (one - correlation * other) / scale[1]
    influence = one * other - correlation / 2 * (one**2 + other**2)
    influence += _through_ranks(first, slope[0]) + _through_ranks(second, slope[1])
    for quantity, (of_first, of_second) in zip(given, slopes[1:], strict=True):
        influence -= _through_ranks(quantity, of_first * slope[0] + of_second * slope[1])
    return correlation, influence - influence.mean()


def _through_ranks(quantity: Ranked, slope: Float[np.ndarray, " row"]) -> Float[np.ndarray, " row"]:
    """What a row does to ρ by raising the ranks of all rows above it, and of those alike by half.

    Args:
        slope: how ρ grows with the rank of each row.
    """
    of_place = np.bincount(quantity.place, slope)
    above = of_place.sum() - np.cumsum(of_place) + of_place / 2
    return (above / len(slope))[quantity.place]
