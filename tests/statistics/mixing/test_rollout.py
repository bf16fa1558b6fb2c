"""Rollout of every scope: against maps multiplied entry by entry, and in a store."""

import numpy as np

from analysis.measures.mixing.rollout import DISTANCES, distance_places

Matrix = list[list[float]]


def slow_rollout(layers: list[Matrix]) -> Matrix:
    """Shares of the input's tokens in every token after the last of the layers."""
    n = len(layers[0])
    share = [[float(i == j) for j in range(n)] for i in range(n)]
    for matrix in layers:
        rows = [[value / sum(row) for value in row] for row in matrix]
        share = [
            [sum(rows[i][k] * share[k][j] for k in range(n)) for j in range(n)] for i in range(n)
        ]
    return share


def slow_residual(attention: Matrix) -> Matrix:
    """0.5 A + 0.5 I."""
    return [
        [0.5 * weight + 0.5 * (i == j) for j, weight in enumerate(row)]
        for i, row in enumerate(attention)
    ]


def slow_shares(
    product: Matrix, types: list[str], *, causal: bool = False
) -> dict[tuple[str, int], float]:
    """Mean over tokens of what comes from each type at each distance, which doubles from 1 on.

    In a causal model nothing comes from behind, so there are no such places.
    """
    n = len(product)
    sums: dict[tuple[str, int], float] = {}
    for i in range(n):
        for j in range(i + 1 if causal else n):
            edge = 0
            while edge < 64 and abs(i - j) >= max(1, 2 * edge):
                edge = max(1, 2 * edge)
            place = types[j], edge
            sums[place] = sums.get(place, 0) + product[i][j] / n
    return sums


def test_distances_fall_between_their_edges():
    distances = np.array(DISTANCES)[distance_places(200)[0]]
    expected = [next(e for e in reversed(DISTANCES) if e <= d) for d in range(200)]
    assert distances.tolist() == expected
