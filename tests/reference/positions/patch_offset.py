"""Slow twin: one pair of patches after the other."""

import math


def by_offset(matrix, n_rows, n_columns, reach):
    """Attention of one head by row and column offset, per patch and per pair."""
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
