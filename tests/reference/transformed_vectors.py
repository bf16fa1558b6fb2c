"""kobayashi-2020, section 3.2: f(x) and the shares of ‖αf(x)‖, one token and one pair at a time."""

import math
from typing import Any

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


def vectors(
    inputs: Matrix, value_weight: Matrix, value_bias: list[float], output_weight: Matrix
) -> Matrix:
    """f(x) of every token."""
    return [transformed(x, value_weight, value_bias, output_weight) for x in inputs]


def vectors_of(layer: Any, row: int, head: int, n_tokens: int) -> Matrix:
    """f(x) of the tokens of one sequence in a head of a traced layer, in float64."""
    weights = layer.weights
    return vectors(
        layer.attention_input[row, :n_tokens].double().tolist(),
        weights.value_weight[head].double().tolist(),
        weights.value_bias[head].double().tolist(),
        weights.output_weight[head].double().tolist(),
    )
