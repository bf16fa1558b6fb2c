"""Partial rank correlation of two quantities, and the influence of each observation on it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

_VARIES = 1e-9  # a residual of ranks, which lie between 0 and 1, below it is rounding


class Ranked(NamedTuple):
    """Ranks of a quantity, for repeated comparison with others."""

    place: Int[np.ndarray, " row"]
    """Index of the row's value among the distinct values, counted from 0."""
    rank: Float[np.ndarray, " row"]
    """Mid-rank over the number of rows: the share of rows below plus half of the ties."""


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
    """Partial ρ, and the influence of each row on it.

    Both mid-ranks are regressed linearly, with an intercept, on the mid-ranks of the given
    quantities; ρ is Pearson's correlation of the two residuals. Without given quantities it is
    Spearman's ρ.

    Returns:
        ρ from −1 to 1, and each row's influence on it, which sum to 0: its contribution to the
        moments of the residuals, and that through the ranks of all other rows. None where there are
        fewer than 3 rows more than quantities given, or a residual never varies.

    Source:
        croux-2010, section 2, of ρ without anything given.

    Differs:
        Ties have mid-ranks; the ranks of given quantities move with the rows too.
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
    """Influence of a row on ρ through the ranks of other rows: all above it, and half of its ties.

    Args:
        slope: derivative of ρ by the rank of each row.
    """
    of_place = np.bincount(quantity.place, slope)
    above = of_place.sum() - np.cumsum(of_place) + of_place / 2
    return (above / len(slope))[quantity.place]
