"""kobayashi-2024, section 5.2: pair of positions by pair of positions, then averaged."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Matrix = list[list[float]]


class Average(NamedTuple):
    """Statistics of an ordered pair of tokens.

    std is None for a single occurrence; the standard error and its degrees of freedom are None
    below three sequences.
    """

    n: int
    n_sequences: int
    mean: float
    std: float | None
    error: float | None
    degrees: float | None


def row_shares(norms: Matrix) -> Matrix:
    return [[value / sum(row) for value in row] for row in norms]


def deltas(before: Matrix, after: Matrix) -> Matrix:
    """Change of the share of every token in every other."""
    return [
        [a - b for a, b in zip(*rows, strict=True)]
        for rows in zip(row_shares(after), row_shares(before), strict=True)
    ]


def averages(
    sequences: list[tuple[list[int], Matrix]], *, causal: bool
) -> dict[tuple[int, int], Average]:
    """Mean changes by source and target, from token ids and changes of every sequence.

    In a causal model the source stands before the target.
    """
    by_pair: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for number, (ids, changes) in enumerate(sequences):
        for i, target in enumerate(ids):
            for j, source in enumerate(ids):
                if j < i if causal else j != i:
                    by_pair.setdefault((source, target), []).append((number, changes[i][j]))
    return {pair: _average(occurrences) for pair, occurrences in by_pair.items()}


def _average(occurrences: list[tuple[int, float]]) -> Average:
    n = len(occurrences)
    mean = math.fsum(delta for _, delta in occurrences) / n
    squares = math.fsum((delta - mean) ** 2 for _, delta in occurrences)
    clusters = [[d for group, d in occurrences if group == g] for g in {g for g, _ in occurrences}]
    spread = clustered(clusters) if len(clusters) > 2 else (None, None)
    std = math.sqrt(squares / (n - 1)) if n > 1 else None
    return Average(n, len(clusters), mean, std, *spread)


def clustered(clusters: list[list[float]]) -> tuple[float, float]:
    """bell-2002: CR2's standard error of a mean and its degrees of freedom, with whole matrices.

    The residual maker is I − H with H = 11ᵀ/n. Each cluster's residuals are multiplied by
    (I − H_gg)^(−1/2); the variance is then a quadratic form of independent errors of one variance,
    and Satterthwaite matches its first two moments.
    """
    values = np.array([value for cluster in clusters for value in cluster])
    n = len(values)
    maker = np.eye(n) - 1 / n
    ends = np.cumsum([0, *map(len, clusters)])
    rows = []
    for start, end in pairwise(ends):
        members = slice(start, end)
        sizes, vectors = np.linalg.eigh(maker[members, members])
        root = vectors @ np.diag(sizes**-0.5) @ vectors.T
        rows.append(np.ones(end - start) / n @ root @ maker[members])
    form = np.array(rows)  # variance = Σ_g (form_g · values)²
    moments = form @ form.T
    degrees = np.trace(moments) ** 2 / np.sum(moments**2)
    return float(np.linalg.norm(form @ values)), float(degrees)


def mean_interval(mean: float, error: float, degrees: float) -> tuple[float, float]:
    """Student's interval: the quantile is found by halving, its area by adding up the density."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < 0.95 else (low, middle)
    return mean - low * error, mean + low * error


def _within(reach: float, freedom: float, steps: int = 4000) -> float:
    """Probability of Student's t within ±reach, by Simpson's rule over atan(t / √freedom)."""
    end = math.atan(reach / math.sqrt(freedom))
    heights = [math.cos(end * k / steps) ** (freedom - 1) for k in range(steps + 1)]
    weights = [1, *([4, 2] * steps)[: steps - 1], 1]
    area = sum(w * h for w, h in zip(weights, heights, strict=True)) * end / steps / 3
    scale = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(math.pi)
    return 2 * scale * area
