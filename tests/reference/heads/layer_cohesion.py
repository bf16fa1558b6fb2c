"""mantel-1967: distances within and between layers, and what chance makes of them."""

from itertools import permutations

Matrix = list[list[float]]


def means(distances: Matrix, layers: list[int], layer: int | None) -> tuple[float, float]:
    """Mean distance of two heads of one layer, and of two heads of different layers.

    With a layer given, one head of every pair is in it.
    """
    within, between = [], []
    for one in range(len(layers)):
        for other in range(one):
            if layer is not None and layer not in (layers[one], layers[other]):
                continue
            same = layers[one] == layers[other]
            (within if same else between).append(distances[one][other])
    return sum(within) / len(within), sum(between) / len(between)


def difference(distances: Matrix, layers: list[int], layer: int | None) -> float:
    within, between = means(distances, layers, layer)
    return between - within


def exact_p(distances: Matrix, layers: list[int], layer: int | None) -> float:
    """Share of all ways to deal the layers that give as large a difference."""
    actual = difference(distances, layers, layer)
    deals = set(permutations(layers))  # each of them comes about in equally many ways
    dealt = [difference(distances, list(deal), layer) for deal in deals]
    return sum(other >= actual - 1e-12 for other in dealt) / len(dealt)
