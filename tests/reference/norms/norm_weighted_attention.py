"""kobayashi-2020, section 3.2: the norms of a head's weighted vectors, one pair at a time."""

import math
from typing import Any

Matrix = list[list[float]]


def vectors(
    inputs: Matrix,
    value_weight: Matrix,
    value_bias: list[float],
    output_weight: Matrix,
) -> Matrix:
    """f(x) = (x W_V + b_V) W_O of every token."""
    found = []
    for x in inputs:
        value = [
            sum(x[i] * value_weight[i][k] for i in range(len(x))) + value_bias[k]
            for k in range(len(value_bias))
        ]
        width = len(output_weight[0])
        found.append(
            [
                sum(v * row[c] for v, row in zip(value, output_weight, strict=True))
                for c in range(width)
            ]
        )
    return found


def shares(attention: Matrix, transformed: Matrix) -> Matrix:
    """‖α f(x)‖ of every pair over the sum of its row; α itself where the row brings nothing."""
    found = []
    for row in attention:
        norms = [
            math.sqrt(sum((weight * part) ** 2 for part in vector))
            for weight, vector in zip(row, transformed, strict=True)
        ]
        total = sum(norms)
        found.append([each / total for each in norms] if total else list(row))
    return found


def of_trace(trace: Any) -> dict[str, dict[tuple[int, int], Matrix]]:
    """Maps of a trace of one text, in float64: by weighing, then by layer and head from 1."""
    found: dict[str, dict[tuple[int, int], Matrix]] = {"weight": {}, "norm": {}}
    for layer, traced in enumerate(trace.layers, start=1):
        weights, inputs = traced.weights, traced.attention_input[0].double().tolist()
        for head, attention in enumerate(traced.attention[0].double().tolist(), start=1):
            made = vectors(
                inputs,
                weights.value_weight[head - 1].double().tolist(),
                weights.value_bias[head - 1].double().tolist(),
                weights.output_weight[head - 1].double().tolist(),
            )
            found["weight"][layer, head] = attention
            found["norm"][layer, head] = shares(attention, made)
    return found
