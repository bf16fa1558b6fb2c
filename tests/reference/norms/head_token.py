"""kobayashi-2020, section 3.2: f(x) and ‖αf(x)‖, one token and one pair at a time."""

import math

Vector = list[float]
Matrix = list[list[float]]


def transformed(x: Vector, value: Matrix, value_bias: Vector, output: Matrix) -> Vector:
    """f(x) = (x W_V + b_V) W_O, equation 8."""
    inner = [
        sum(x[k] * value[k][d] for k in range(len(x))) + value_bias[d]
        for d in range(len(value_bias))
    ]
    return [sum(inner[d] * output[d][w] for d in range(len(inner))) for w in range(len(output[0]))]


def norm(vector: Vector) -> float:
    return math.sqrt(sum(x * x for x in vector))


def attention_received(attention: Matrix, key: int) -> float:
    """Σ_i α_ij."""
    return sum(row[key] for row in attention)


def weighted_norm_received(attention: Matrix, key: int, vector: Vector) -> float:
    """Σ_i ‖α_ij f(x_j)‖, each vector made and measured."""
    return sum(norm([row[key] * x for x in vector]) for row in attention)
