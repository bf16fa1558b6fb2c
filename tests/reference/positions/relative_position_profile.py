"""Slow twin: one pair of tokens after the other."""

import math


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
