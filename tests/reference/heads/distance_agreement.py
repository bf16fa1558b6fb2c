"""mantel-1967: two distances of the same heads, pair by pair, and every order of the heads."""

from itertools import combinations, permutations

from tests.reference.norms.attention_norm_correlation import spearman

Matrix = list[list[float]]


def of_pairs(one: Matrix, other: Matrix, order: tuple[int, ...]) -> float:
    """ρ over all pairs when the heads of the other matrix stand in an order."""
    pairs = list(combinations(range(len(one)), 2))
    found = spearman([one[a][b] for a, b in pairs], [other[order[a]][order[b]] for a, b in pairs])
    assert found is not None
    return found


def p_value(one: Matrix, other: Matrix) -> tuple[float, int]:
    """The share of all orders that give as large a ρ as the true one, and how many there are."""
    heads = tuple(range(len(one)))
    found = [of_pairs(one, other, order) for order in permutations(heads)]
    true = of_pairs(one, other, heads)
    return sum(each >= true - 1e-9 for each in found) / len(found), len(found)


def nearest(distances: Matrix, head: int) -> int:
    """The head that is nearest to one, the first of equals."""
    others = [each for each in range(len(distances)) if each != head]
    return min(others, key=lambda each: distances[head][each])
