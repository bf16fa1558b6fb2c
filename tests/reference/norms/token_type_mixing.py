"""kobayashi-2020, section 5.4: sums within a sequence, means over queries, means over sequences."""

import random

from tests.reference.norms.head_token import norm


def type_means(
    attention: list[list[float]], vectors: list[list[float]], positions: list[int]
) -> tuple[float, float | None, float]:
    """Of one head, sequence and type: mean over i of Σ_j α, mean ‖f‖, mean over i of Σ_j ‖αf‖."""
    n = len(attention)
    weight = sum(attention[i][j] for i in range(n) for j in positions) / n
    length = [norm(vectors[j]) for j in positions]
    arriving = (
        sum(
            norm([attention[i][j] * each for each in vectors[j]])
            for i in range(n)
            for j in positions
        )
        / n
    )
    return weight, (sum(length) / len(length) if length else None), arriving


def bootstrap_interval(
    values: list[float | None], *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap of the mean of what is there, one resample at a time."""
    generator = random.Random(seed)
    means = []
    for _ in range(resamples):
        drawn = [generator.choice(values) for _ in values]
        there = [each for each in drawn if each is not None]
        if there:
            means.append(sum(there) / len(there))
    means.sort()
    return means[round(0.025 * (len(means) - 1))], means[round(0.975 * (len(means) - 1))]
