"""Scores, diagonals and attention from the projections themselves, pair by pair."""

import math


def scores(inputs, query_weight, query_bias, key_weight, key_bias):
    """(x_i W_Q + b_Q) · (x_j W_K + b_K) of every two tokens of one head."""

    def projected(x, weight, bias):
        columns = zip(*weight, strict=True)
        return [
            sum(a * b for a, b in zip(x, column, strict=True)) + shift
            for column, shift in zip(columns, bias, strict=True)
        ]

    queries = [projected(x, query_weight, query_bias) for x in inputs]
    keys = [projected(x, key_weight, key_bias) for x in inputs]
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]


def attention(row, *, head_width, n_visible):
    """Softmax of the scores of the first keys over √d'; the others get none."""
    powers = [math.exp(score / math.sqrt(head_width)) for score in row[:n_visible]]
    return [power / sum(powers) for power in powers] + [0.0] * (len(row) - n_visible)
