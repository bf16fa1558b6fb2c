"""Slow twin: scores from the raw projections, and cross-covariances one product at a time."""

import math

import numpy as np


def scores(inputs, weights, head):
    """(X W_Q + b_Q)(X W_K + b_K)ᵀ of one head."""
    inputs = np.asarray(inputs, dtype=np.float64)
    queries = inputs @ weights.query_weight[head].double().numpy()
    keys = inputs @ weights.key_weight[head].double().numpy()
    queries += weights.query_bias[head].double().numpy()
    keys += weights.key_bias[head].double().numpy()
    return queries @ keys.T


def weighted_covariance(queries, values, keys, offset):
    """Every direction's products of a query with the key `offset` further on, times its value."""
    n = len(queries)
    return math.fsum(
        value * queries[i][j] * keys[i + offset][j]
        for j, value in enumerate(values)
        for i in range(n)
        if 0 <= i + offset < n
    )


def row_centred(scores, *, is_causal, window=None):
    """Each score less the mean of those of its row that its query sees."""
    rows = []
    for i, row in enumerate(scores):
        places = range(i + 1 if is_causal else len(row))
        seen = [row[j] for j in places if window is None or abs(i - j) <= window]
        mean = math.fsum(seen) / len(seen)
        rows.append([score - mean for score in row])
    return rows
