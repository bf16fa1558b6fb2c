"""kobayashi-2021, section 4.2: mixing ratios averaged over tokens, one token after the other."""

import random


def moments(ratios: list[float]) -> tuple[float, float, float, float]:
    """Mean, squared distances from it in sum, smallest, largest."""
    mean = sum(ratios) / len(ratios)
    return mean, sum((ratio - mean) ** 2 for ratio in ratios), min(ratios), max(ratios)


def with_residual(attention: list[list[float]]) -> list[float]:
    """Share of other tokens in the mean of the attention weights and the identity, row by row."""
    n = len(attention)
    mixed = [[(attention[i][j] + (i == j)) / 2 for j in range(n)] for i in range(n)]
    return [sum(mixed[i][j] for j in range(n) if j != i) for i in range(n)]


def mean_over_layers(layers: list[list[float]]) -> list[float]:
    """Mean over layers for every token, from one list of tokens per layer."""
    return [sum(of_token) / len(layers) for of_token in zip(*layers, strict=True)]


def pooled_interval(
    sequences: list[list[float]], *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap of the mean over all tokens of the sequences that are drawn."""
    generator = random.Random(seed)
    means = []
    for _ in range(resamples):
        tokens = [token for _ in sequences for token in generator.choice(sequences)]
        if tokens:
            means.append(sum(tokens) / len(tokens))
    means.sort()
    return means[round(0.025 * (len(means) - 1))], means[round(0.975 * (len(means) - 1))]
