"""Pairs of α and ‖f(x)‖ counted one by one, in bins found by arithmetic instead of by bits."""

import math
from collections import Counter


def bin_of(value: float, per_octave: int) -> tuple[int, int]:
    """The octave of a positive value and which part of that octave it lies in."""
    octave = math.floor(math.log2(value))
    return octave, math.floor((value / 2**octave - 1) * per_octave)


def joint_counts(
    attention: list[list[list[float]]],
    norms: list[list[float]],
    token_types: list[int],
    *,
    causal: bool,
) -> Counter:
    """Counts of (head, type, bin of α, bin of ‖f‖) in one sequence.

    In a causal model, a query has no pair with later keys.
    """
    counts: Counter = Counter()
    for head, rows in enumerate(attention):
        for query, row in enumerate(rows):
            for key, weight in enumerate(row[: query + 1] if causal else row):
                counts[head, token_types[key], bin_of(weight, 4), bin_of(norms[head][key], 64)] += 1
    return counts
