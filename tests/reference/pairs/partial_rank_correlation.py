"""croux-2010: ranks by counting, residuals by normal equations, influence by giving weight."""

import math

Rows = list[list[float]]


def partial_rank_correlation(columns: Rows, weights: list[float] | None = None) -> float | None:
    """ρ of the first two columns given the others; every row weighs the same unless told."""
    n = len(columns[0])
    if n < len(columns) + 1:
        return None
    weights = weights or [1 / n] * n
    ranks = [_mid_ranks(column, weights) for column in columns]
    first, second = (_residual(ranked, ranks[2:], weights) for ranked in ranks[:2])
    squares = [_product(residual, residual, weights) for residual in (first, second)]
    if min(squares) < 1e-15:
        return None
    return _product(first, second, weights) / math.sqrt(squares[0] * squares[1])


def influence(columns: Rows, row: int, step: float = 1e-5) -> float:
    """Derivative of ρ with respect to weight moved from all rows to one of them."""
    n = len(columns[0])

    def moved(amount: float) -> float:
        weights = [(1 - amount) / n + (amount if index == row else 0) for index in range(n)]
        rho = partial_rank_correlation(columns, weights)
        assert rho is not None
        return rho

    return (moved(step) - moved(-step)) / (2 * step)


def _mid_ranks(values: list[float], weights: list[float]) -> list[float]:
    both = list(zip(values, weights, strict=True))
    return [
        sum(weight for other, weight in both if other < value)
        + sum(weight for other, weight in both if other == value) / 2
        for value in values
    ]


def _product(first: list[float], second: list[float], weights: list[float]) -> float:
    return math.fsum(a * b * w for a, b, w in zip(first, second, weights, strict=True))


def _residual(values: list[float], given: Rows, weights: list[float]) -> list[float]:
    """Residual of the values after mean and given columns are projected out one by one."""
    left = _centred(values, weights)
    for direction in _orthogonal(given, weights):
        left = _without(left, direction, weights)
    return left


def _orthogonal(given: Rows, weights: list[float]) -> Rows:
    """The given columns, each without its mean and without those before it; none that is 0."""
    directions: Rows = []
    for column in given:
        left = _centred(column, weights)
        for direction in directions:
            left = _without(left, direction, weights)
        if _product(left, left, weights) > 1e-15:
            directions.append(left)
    return directions


def _centred(values: list[float], weights: list[float]) -> list[float]:
    mean = _product(values, [1.0] * len(values), weights)
    return [value - mean for value in values]


def _without(values: list[float], direction: list[float], weights: list[float]) -> list[float]:
    share = _product(values, direction, weights) / _product(direction, direction, weights)
    return [a - share * b for a, b in zip(values, direction, strict=True)]
