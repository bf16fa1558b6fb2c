"""Slow twin: the whole (d+1)×(d+1) product and its dense decomposition, head by head."""

import numpy as np


def dense(query_weight, query_bias, key_weight, key_bias):
    """Per head W_A itself and its dense U, s, V, null spaces included."""
    factors = []
    for head in range(len(query_weight)):
        queries = np.vstack([query_weight[head], query_bias[head][None]]).astype(np.float64)
        keys = np.vstack([key_weight[head], key_bias[head][None]]).astype(np.float64)
        product = queries @ keys.T
        left, values, right = np.linalg.svd(product)
        factors.append((product, left, values, right.T))
    return factors
