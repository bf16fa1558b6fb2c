"""yamamoto-2023, section 3.5, term by term."""

import math


def wave(inputs: list[list[float]], direction: list[float]) -> list[float]:
    """[x 1] · direction of every token."""
    return [sum(a * b for a, b in zip([*x, 1.0], direction, strict=True)) for x in inputs]


def cross_covariance(query: list[float], key: list[float], offset: int) -> float:
    """Equation 11."""
    n = len(query)
    if offset >= 0:
        return sum(query[i] * key[i + offset] for i in range(n - offset))
    return sum(query[i - offset] * key[i] for i in range(n + offset))


def cross_correlation(query: list[float], key: list[float], offset: int) -> float:
    """Equation 12."""
    n = len(query)
    every = [cross_covariance(query, key, t) for t in range(1 - n, n)]
    lengths = math.dist(query, [0] * n) * math.dist(key, [0] * n)
    return (cross_covariance(query, key, offset) - sum(every) / len(every)) / lengths
