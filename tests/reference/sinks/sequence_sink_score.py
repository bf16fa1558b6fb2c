"""gu-2025 on key biases and angles: decomposition of one head's scores, pair by pair."""

import cmath
import math

Vector = list[float]
Matrix = list[list[float]]


def dot(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(x: Vector, matrix: Matrix) -> Vector:
    return [sum(x[k] * matrix[k][c] for k in range(len(x))) for c in range(len(matrix[0]))]


def turned(vector: Vector, position: int, frequencies: Vector | None) -> Vector:
    """Planes as complex numbers rotated by their angles; further coordinates unchanged."""
    if frequencies is None:
        return vector
    planes = len(frequencies)
    numbers = [
        complex(vector[c], vector[c + planes]) * cmath.exp(1j * position * frequencies[c])
        for c in range(planes)
    ]
    return [
        *(number.real for number in numbers),
        *(number.imag for number in numbers),
        *vector[2 * planes :],
    ]


def scores(queries: Matrix, keys: Matrix, scale: float) -> Matrix:
    return [[scale * dot(query, key) for key in keys] for query in queries]


def taken_apart(
    queries: Matrix,
    keys: Matrix,
    biases: Matrix | None,
    *,
    scale: float,
    seen: list[list[int]],
    tokens: list[int],
) -> dict[str, float | None]:
    """Excess of some tokens' scores over those of the others, and its three parts.

    Args:
        queries: as the layer compares them, like `keys`, which are without their biases.
        biases: of every key, as the layer compares them; None if there are none.
    """
    parts: list[dict[str, float]] = []
    for query, sees in zip(queries, seen, strict=True):
        own = [j for j in sees if j in tokens]
        others = [j for j in sees if j not in tokens]
        if not own or not others:
            continue
        sides = []
        for side in (own, others):
            length = sum(math.sqrt(dot(keys[j], keys[j])) for j in side) / len(side)
            score = sum(scale * dot(query, keys[j]) for j in side) / len(side)
            bias = sum(scale * dot(query, biases[j]) for j in side) / len(side) if biases else 0.0
            sides.append((length, score, bias))
        (length, score, bias), (usual_length, usual_score, usual_bias) = sides
        angle, usual_angle = score / length, usual_score / usual_length
        # each factor's part: its own change at the other's value before and after, on average
        of_length = (length * angle - usual_length * angle) / 2
        of_length += (length * usual_angle - usual_length * usual_angle) / 2
        of_angle = (length * angle - length * usual_angle) / 2
        of_angle += (usual_length * angle - usual_length * usual_angle) / 2
        parts.append(
            {
                "excess": score + bias - usual_score - usual_bias,
                "norm": of_length,
                "direction": of_angle,
                "bias": bias - usual_bias,
            }
        )
    if not parts:
        return dict.fromkeys(("excess", "norm", "direction", "bias"))
    means: dict[str, float | None] = {
        name: sum(part[name] for part in parts) / len(parts) for name in parts[0]
    }
    return means if biases else means | {"bias": None}


def excess(given: Matrix, seen: list[list[int]], tokens: list[int]) -> float | None:
    """Mean over queries of the scores on some tokens minus those on the others."""
    excesses = []
    for row, sees in zip(given, seen, strict=True):
        own = [row[j] for j in sees if j in tokens]
        others = [row[j] for j in sees if j not in tokens]
        if own and others:
            excesses.append(sum(own) / len(own) - sum(others) / len(others))
    return sum(excesses) / len(excesses) if excesses else None
