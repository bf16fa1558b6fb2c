"""robinson-1950: what a correlation is within groups and between them, value by value."""

import math
from itertools import pairwise


def parts(sides: list[list[float]], groups: list[tuple]) -> list[tuple[float, float | None]]:
    """The contribution and the own correlation of every level, from within the smallest groups.

    A value's deviation from the mean of all is the sum of its deviation from the mean of its
    smallest group, that mean's deviation from the mean of the next larger group, and so on; a level
    has the products of its own deviations alone.

    Args:
        groups: of each value the names of the groups that it is in, the largest one first.
    """
    (first, second), depth = sides, len(groups[0])

    def means(values: list[float], level: int) -> list[float]:
        """Mean of each value's group at a level; level 0 is a single group."""
        sums: dict[tuple, list[float]] = {}
        for value, of in zip(values, groups, strict=True):
            sums.setdefault(of[:level], []).append(value)
        return [math.fsum(sums[of[:level]]) / len(sums[of[:level]]) for of in groups]

    def steps(values: list[float]) -> list[list[float]]:
        """The deviations of every level, of all values."""
        nested = [values, *(means(values, level) for level in range(depth, -1, -1))]
        return [
            [own - larger for own, larger in zip(inner, outer, strict=True)]
            for inner, outer in pairwise(nested)
        ]

    def size(values: list[float]) -> float:
        middle = math.fsum(values) / len(values)
        return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / len(values))

    whole, found = size(first) * size(second), []
    for a, b in zip(steps(first), steps(second), strict=True):
        covariance = math.fsum(x * y for x, y in zip(a, b, strict=True)) / len(a)
        own = size(a) * size(b)
        found.append((covariance / whole, covariance / own if own > 1e-9 * whole else None))
    return found
