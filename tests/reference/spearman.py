"""Spearman's ρ with mid-ranks, by its definition."""

import math


def midranks(values: list[float]) -> list[float]:
    """1 + how many are smaller + half of how many others are equal."""
    return [
        1 + sum(other < value for other in values) + (values.count(value) - 1) / 2
        for value in values
    ]


def spearman(first: list[float], second: list[float]) -> float | None:
    """Pearson's correlation of the mid-ranks; None where either side holds a single value."""
    ranks = midranks(first), midranks(second)
    middle = (len(first) + 1) / 2
    covariance = sum((a - middle) * (b - middle) for a, b in zip(*ranks, strict=True))
    spreads = [math.sqrt(sum((value - middle) ** 2 for value in rank)) for rank in ranks]
    return covariance / (spreads[0] * spreads[1]) if all(spreads) else None
