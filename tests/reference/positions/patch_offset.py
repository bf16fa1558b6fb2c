"""Slow twin: one pair of patches after the other."""

import math


def by_offset(matrix, n_rows, n_columns, reach):
    """By row and column offset the attention per patch, and that per pair, of one head."""
    weights = {}
    for query in range(n_rows * n_columns):
        for key in range(n_rows * n_columns):
            down = key // n_columns - query // n_columns
            right = key % n_columns - query % n_columns
            if abs(down) <= reach and abs(right) <= reach:
                weights.setdefault((down, right), []).append(matrix[query][key])
    return {
        offset: (math.fsum(values) / (n_rows * n_columns), math.fsum(values) / len(values))
        for offset, values in weights.items()
    }
