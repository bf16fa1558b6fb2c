"""kobayashi-2020, section 3.2: the norms of a head's weighted vectors, one pair at a time."""

from typing import Any

from tests.reference.norms.head_token import norm, transformed

Matrix = list[list[float]]


def vectors(
    inputs: Matrix, value_weight: Matrix, value_bias: list[float], output_weight: Matrix
) -> Matrix:
    """f(x) = (x W_V + b_V) W_O of every token."""
    return [transformed(x, value_weight, value_bias, output_weight) for x in inputs]


def shares(attention: Matrix, made: Matrix) -> Matrix:
    """‖α f(x)‖ of every pair over the sum of its row; α itself where the row brings nothing."""
    rows = []
    for row in attention:
        norms = [
            norm([weight * part for part in vector])
            for weight, vector in zip(row, made, strict=True)
        ]
        total = sum(norms)
        rows.append([size / total for size in norms] if total else list(row))
    return rows


def of_trace(trace: Any) -> dict[str, dict[tuple[int, int], Matrix]]:
    """Maps of a trace of one text, in float64: by weighing, then by layer and head from 1."""
    maps: dict[str, dict[tuple[int, int], Matrix]] = {"weight": {}, "norm": {}}
    for layer, traced in enumerate(trace.layers, start=1):
        weights, inputs = traced.weights, traced.attention_input[0].double().tolist()
        for head, attention in enumerate(traced.attention[0].double().tolist(), start=1):
            made = vectors(
                inputs,
                weights.value_weight[head - 1].double().tolist(),
                weights.value_bias[head - 1].double().tolist(),
                weights.output_weight[head - 1].double().tolist(),
            )
            maps["weight"][layer, head] = attention
            maps["norm"][layer, head] = shares(attention, made)
    return maps
