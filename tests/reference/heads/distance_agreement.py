"""mantel-1967: two distances of the same heads, pair by pair, and every order of the heads."""

from itertools import combinations, permutations

from tests.reference.spearman import spearman

Matrix = list[list[float]]


def of_pairs(one: Matrix, other: Matrix, order: tuple[int, ...]) -> float:
    """ρ over all pairs when the heads of the other matrix stand in an order."""
    pairs = list(combinations(range(len(one)), 2))
    rho = spearman([one[a][b] for a, b in pairs], [other[order[a]][order[b]] for a, b in pairs])
    assert rho is not None
    return rho


def p_value(one: Matrix, other: Matrix) -> tuple[float, int]:
    """The share of all orders that give as large a ρ as the true one, and how many there are."""
    heads = tuple(range(len(one)))
    rhos = [of_pairs(one, other, order) for order in permutations(heads)]
    true = of_pairs(one, other, heads)
    return sum(rho >= true - 1e-9 for rho in rhos) / len(rhos), len(rhos)


def nearest(distances: Matrix, head: int) -> int:
    """The head that is nearest to one, the first of equals."""
    others = [index for index in range(len(distances)) if index != head]
    return min(others, key=lambda index: distances[head][index])
