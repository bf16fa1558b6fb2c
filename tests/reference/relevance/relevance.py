"""sawaki-2025, rules (i) to (iv): relevance handed down one token and one layer at a time."""

from math import sqrt

Vector = list[float]
Matrix = list[Vector]
RULES = {"i": (False, False), "ii": (True, False), "iii": (False, True), "iv": (True, True)}
"""Whether the activation, and whether the weight, has distances of values."""


def _distance(one: Vector, other: Vector) -> float:
    return sqrt(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))


def activations(values: Matrix, rule: str) -> Vector:
    """1, or how far the value of each token is from the mean of all."""
    if not RULES[rule][0]:
        return [1.0] * len(values)
    mean = [sum(column) / len(values) for column in zip(*values, strict=True)]
    return [_distance(value, mean) for value in values]


def weights(attention: Matrix, values: Matrix, rule: str) -> Matrix:
    """W by the token that gets relevance, then by the token that hands it down."""
    n = len(values)
    return [
        [
            attention[giver][taker]
            * (_distance(values[giver], values[taker]) if RULES[rule][1] else 1.0)
            + (1.0 if giver == taker else 0.0)
            for giver in range(n)
        ]
        for taker in range(n)
    ]


def one_layer_down(relevance: Vector, activation: Vector, weight: Matrix) -> tuple[Vector, int]:
    """Every token gives what it has to those below it; and how many had none to give it to."""
    n = len(relevance)
    below, in_place = [0.0] * n, 0
    for giver in range(n):
        shares = [activation[taker] * weight[taker][giver] for taker in range(n)]
        total = sum(shares)
        if total == 0:
            below[giver] += relevance[giver]
            in_place += relevance[giver] > 0
            continue
        for taker in range(n):
            below[taker] += shares[taker] / total * relevance[giver]
    return below, in_place


def _mean_matrix(matrices: list[Matrix]) -> Matrix:
    return [
        [sum(cells) / len(matrices) for cells in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def down(
    layers: list[tuple[list[Matrix], list[Matrix]]], start: Vector, rule: str, head: int | None
) -> tuple[Vector, int]:
    """Relevance at the input, from behind the last of the layers; and the tokens kept in place.

    A layer is the attention of all its heads, then their values. Head None: on mean weights.
    """
    relevance, in_place = start, 0
    for attention, values in reversed(layers):
        heads = range(len(attention)) if head is None else [head]
        each_activation = [activations(values[h], rule) for h in heads]
        weight = _mean_matrix([weights(attention[h], values[h], rule) for h in heads])
        activation = [sum(cells) / len(heads) for cells in zip(*each_activation, strict=True)]
        relevance, stayed = one_layer_down(relevance, activation, weight)
        in_place += stayed
    return relevance, in_place
