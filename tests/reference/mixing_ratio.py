"""kobayashi-2021, section 4.2: mixing ratios averaged over tokens, one token after the other."""

import math
import random


def moments(ratios: list[float]) -> tuple[float, float, float, float]:
    """Mean, squared distances from it in sum, smallest, largest."""
    mean = sum(ratios) / len(ratios)
    return mean, sum((each - mean) ** 2 for each in ratios), min(ratios), max(ratios)


def standard_deviation(ratios: list[float]) -> float:
    """Of all tokens there are."""
    return math.sqrt(moments(ratios)[1] / len(ratios))


def pooled_interval(
    sequences: list[list[float]], *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap of the mean over all tokens of the sequences that are drawn."""
    generator = random.Random(seed)
    means = []
    for _ in range(resamples):
        tokens = [each for _ in sequences for each in generator.choice(sequences)]
        if tokens:
            means.append(sum(tokens) / len(tokens))
    means.sort()
    return means[round(0.025 * (len(means) - 1))], means[round(0.975 * (len(means) - 1))]
