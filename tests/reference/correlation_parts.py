"""robinson-1950: what a correlation is within groups and between them, value by value."""

import math
from itertools import pairwise


def parts(
    first: list[float], second: list[float], groups: list[tuple]
) -> list[tuple[float, float | None]]:
    """The contribution and the own correlation of every level, from within the smallest groups.

    A value's deviation from the mean of all is the sum of its deviation from the mean of its
    smallest group, that mean's deviation from the mean of the next larger group, and so on; a level
    has the products of its own deviations alone.

    Args:
        groups: of each value the names of the groups that it is in, the largest one first.
    """
    n, depth = len(first), len(groups[0])

    def mean(values: list[float], group: tuple) -> float:
        own = [v for v, of in zip(values, groups, strict=True) if of[: len(group)] == group]
        return math.fsum(own) / len(own)

    def steps(values: list[float]) -> list[list[float]]:
        """The deviations of every level, of all values."""
        means = [[mean(values, of[:level]) for of in groups] for level in range(depth + 1)]
        nested = [values, *reversed(means)]
        return [
            [own - larger for own, larger in zip(inner, outer, strict=True)]
            for inner, outer in pairwise(nested)
        ]

    def size(values: list[float]) -> float:
        return math.sqrt(math.fsum((v - mean(values, ())) ** 2 for v in values) / n)

    found = []
    for a, b in zip(steps(first), steps(second), strict=True):
        covariance = math.fsum(x * y for x, y in zip(a, b, strict=True)) / n
        own = size(a) * size(b)
        whole = size(first) * size(second)
        found.append((covariance / whole, covariance / own if own > 1e-9 * whole else None))
    return found
