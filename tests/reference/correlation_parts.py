"""robinson-1950: what a correlation is within groups and between them."""

from itertools import pairwise

import numpy as np
import pandas as pd


def parts(sides: list[list[float]], groups: list[tuple]) -> list[tuple[float, float | None]]:
    """The contribution and the own correlation of every level, from within the smallest groups.

    A value's deviation from the mean of all is the sum of its deviation from the mean of its
    smallest group, that mean's deviation from the mean of the next larger group, and so on; a level
    has the products of its own deviations alone.

    Args:
        groups: of each value the names of the groups that it is in, the largest one first.
    """
    values = pd.DataFrame(zip(*sides, strict=True), dtype=float)
    nested = [values]
    for level in range(len(groups[0]), 0, -1):
        of = pd.Series([str(group[:level]) for group in groups])
        nested.append(values.groupby(of).transform("mean"))
    nested.append(values * 0 + values.mean())
    whole, found = np.std(values.to_numpy(), axis=0).prod(), []
    for inner, outer in pairwise(nested):
        own = (inner - outer).to_numpy()
        covariance, spread = own.prod(axis=1).mean(), np.std(own, axis=0).prod()
        rho = covariance / spread if spread > 1e-9 * whole else None
        found.append((covariance / whole, rho))
    return found
