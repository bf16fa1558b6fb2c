"""Slow twins that several tests share: one pair of tokens, one wave, one plane at a time."""

import cmath
import math

import numpy as np


def diagonal_sum(matrix, offset):
    """The sum of the elements (i, i + offset)."""
    n = len(matrix)
    return math.fsum(matrix[i][i + offset] for i in range(n) if 0 <= i + offset < n)


def position_dependence(matrix, *, is_causal, window=None):
    """Variance of the means by offset over the variance of all elements, or None if that is 0."""
    by_offset = {}
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            near = window is None or abs(j - i) <= window
            if near and (j <= i or not is_causal):
                by_offset.setdefault(j - i, []).append(value)
    every = [value for values in by_offset.values() for value in values]
    mean = math.fsum(every) / len(every)
    total = math.fsum((value - mean) ** 2 for value in every)
    between = math.fsum(
        len(values) * (math.fsum(values) / len(values) - mean) ** 2 for values in by_offset.values()
    )
    return between / total if total > 1e-12 else None


def row_centred(scores, *, is_causal, window=None):
    """Each score less the mean of those of its row that its query sees."""
    rows = []
    for i, row in enumerate(scores):
        places = range(i + 1 if is_causal else len(row))
        seen = [row[j] for j in places if window is None or abs(i - j) <= window]
        rows.append([score - math.fsum(seen) / len(seen) for score in row])
    return rows


def amplitude(wave, k):
    """|Σ_t wave(t) e^(−2πikt/T)|."""
    n = len(wave)
    return abs(sum(value * cmath.exp(-2j * math.pi * k * t / n) for t, value in enumerate(wave)))


def dense_form(weights):
    """Per head W_A itself and its dense U, s, V, null spaces included."""
    factors = []
    for head in range(len(weights.query_weight)):
        queries, keys = (
            _affine(
                getattr(weights, f"{side}_weight")[head], getattr(weights, f"{side}_bias")[head]
            )
            for side in ("query", "key")
        )
        product = queries @ keys.T
        left, values, right = np.linalg.svd(product)
        factors.append((product, left, values, right.T))
    return factors


def _affine(weight, bias):
    """A projection with its bias as the last row."""
    return np.vstack([weight, bias[None]]).astype(np.float64)


def nearest_rotation(left, values, right):
    """The orthogonal T with T u_j = v_j that is nearest the identity, as a whole matrix.

    Args:
        left, right: square orthogonal matrices as a dense decomposition gives them; columns beyond
            the values that count are any basis of the null spaces.
    """
    rank = int(np.sum(values > 1e-6 * values[0]))
    known = right[:, :rank] @ left[:, :rank].T
    left_null, right_null = left[:, rank:], right[:, rank:]
    # max over orthogonal M of tr(right_null M left_nullᵀ)
    a, _, b = np.linalg.svd(right_null.T @ left_null)
    return known + right_null @ a @ b @ left_null.T
