"""kobayashi-2020, equation 7: the attention block as a sum over tokens and heads."""

import math

from tests.reference.transformed_vectors import transformed


def block_output(
    inputs: list[list[float]], attention: list[list[list[float]]], query: int, heads: list[dict]
) -> list[float]:
    """Σ_h Σ_j α_ij f(x_j) + b_O of one token; `heads` holds each head's matrices."""
    output = list(heads[0]["output_bias"])
    for weights, head in zip(attention, heads, strict=True):
        for key, x in enumerate(inputs):
            vector = transformed(x, head["value"], head["value_bias"], head["output"])
            for w, value in enumerate(vector):
                output[w] += weights[query][key] * value
    return output


def attention_sum_error(attention: list[list[list[float]]]) -> float:
    return max(abs(sum(row) - 1) for head in attention for row in head)


def token_errors(
    output: list[list[float]],
    parts: list[list[list[float]]],
    against: list[list[float]],
    *,
    visible: float,
) -> list[float]:
    """Error of each token's sum of parts, relative to the length of one vector."""
    width = len(output[0])
    sizes = [
        [
            max(abs(against[i][k]), visible * sum(abs(part[i][k]) for part in parts))
            for k in range(width)
        ]
        for i in range(len(output))
    ]
    errors = []
    for i, token in enumerate(output):
        missed, length = 0.0, 0.0
        for k in range(width):
            unit = max(size[k] for size in sizes)
            missed += ((token[k] - sum(part[i][k] for part in parts)) / unit) ** 2
            length += (sizes[i][k] / unit) ** 2
        errors.append(math.sqrt(missed / length))
    return errors
