"""Accuracy of a probe: counted case by case, resampled sequence by sequence."""

import math

import numpy as np


def counts(right: list[bool], sequences: list[int]) -> dict[int, tuple[int, int]]:
    """Numbers of cases and of right ones, by sequence."""
    counted: dict[int, tuple[int, int]] = {}
    for hit, sequence in zip(right, sequences, strict=True):
        n, n_right = counted.get(sequence, (0, 0))
        counted[sequence] = (n + 1, n_right + hit)
    return counted


def interval(
    right: list[float], n: list[int], draws: list[list[float]], units: list[int] | None = None
) -> tuple[float, float]:
    """efron-1979, section 2: ends of the central 95 % of Σ right / Σ n over the draws.

    No number where fewer than ten units have a case; without `units` each sequence is one.
    """
    numbered = zip(units or range(len(n)), n, strict=True)
    if len({unit for unit, n_cases in numbered if n_cases > 0}) < 10:
        return math.nan, math.nan
    ratios = []
    for drawn in draws:
        cases = sum(times * n_cases for times, n_cases in zip(drawn, n, strict=True))
        if cases:
            hits = sum(times * hit for times, hit in zip(drawn, right, strict=True))
            ratios.append(hits / cases)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def best(right: list[list[float]], chosen: list[bool]) -> int:
    """First probe that has the most right cases on the chosen sequences."""
    totals = [
        sum(row[probe] for row, wanted in zip(right, chosen, strict=True) if wanted)
        for probe in range(len(right[0]))
    ]
    return totals.index(max(totals))
