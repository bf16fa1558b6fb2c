"""clark-2019, section 5.2: scores of governors from distances and words, pair by pair."""

import math

Vector = list[float]
Matrix = list[Vector]


def features(n_words: int, dependent: int, candidate: int) -> Vector:
    """Share of the sentence behind and before, whether 1 or 2 away, whether the root."""
    if candidate == n_words:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    step = candidate - dependent
    behind, before = (step / n_words, 0.0) if step > 0 else (0.0, -step / n_words)
    return [behind, before, *(float(step == distance) for distance in (1, -1, 2, -2)), 0.0]


def times(vector: Vector, matrix: Matrix) -> Vector:
    """vector @ matrix."""
    columns = range(len(matrix[0]))
    return [sum(v * row[k] for v, row in zip(vector, matrix, strict=True)) for k in columns]


def score(of_dependent: Vector, of_governor: Vector, of_distance: Vector, output: Vector) -> float:
    """output · tanh of the sum of what dependent, governor and distance bring."""
    parts = zip(of_dependent, of_governor, of_distance, output, strict=True)
    return sum(o * math.tanh(a + b + c) for a, b, c, o in parts)
