"""clark-2019, section 6: how differently two heads attend, one row and one key at a time."""

from math import log

Matrix = list[list[float]]


def smoothed(row: list[float]) -> list[float]:
    """A row of which one thousandth is dealt out evenly over the keys that are seen."""
    return [0.999 * weight + 0.001 / len(row) for weight in row]


def divergence_of_rows(one: list[float], other: list[float]) -> float:
    """Half of the Kullback–Leibler divergences of both from their mean."""
    total = 0.0
    for p, q in zip(smoothed(one), smoothed(other), strict=True):
        mean = (p + q) / 2
        total += 0.5 * p * log(p / mean) + 0.5 * q * log(q / mean)
    return total


def divergence(one: Matrix, other: Matrix, seen: list[list[bool]]) -> float:
    """The sum over all rows, over the keys that each query sees."""
    total = 0.0
    for query, keys in enumerate(seen):
        places = [key for key, there in enumerate(keys) if there]
        rows = ([matrix[query][key] for key in places] for matrix in (one, other))
        total += divergence_of_rows(*rows)
    return total
