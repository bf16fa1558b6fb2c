"""Mean mixing ratios of many tokens, with bootstrap intervals."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from analysis.measures.bootstrap import Redraws, means_of_sums


def ratio_moments(
    ratios: Float[np.ndarray, "scope token"],
) -> tuple[Float[np.ndarray, " scope"], ...]:
    """Mean, sum of squared deviations, minimum and maximum of some tokens' ratios.

    Those of parts give those of the whole: means by their weights, and the squared deviations of a
    part grow by n · (its mean − the whole's mean)².

    Source:
        kobayashi-2021, section 4.2: the values that its table 2 and figure 3 average.
    """
    exact = ratios.astype(np.float64)
    mean = exact.mean(axis=1)
    return mean, ((exact - mean[:, None]) ** 2).sum(axis=1), exact.min(axis=1), exact.max(axis=1)


def ratios_of_layer(ratios: Float[np.ndarray, "scope token"]) -> Float[np.ndarray, "value token"]:
    """The ratios of a layer's scopes; the one of weights with residual follows that of the weights.

    The residual counts as much as the attention: the off-diagonal part of ½ (ᾱ + I), whose rows sum
    to 1, is (1 − ᾱ_ii) / 2, half the ratio of the weights.

    Returns:
        In the order of `LayerOrder.of_ratios`.

    Source:
        kobayashi-2021, table 2 and figure 3: AttnRes-W, after abnar-2020.
    """
    return np.insert(ratios, 1, ratios[0] / 2, axis=0)


def mean_over_layers(
    layers: Sequence[Float[np.ndarray, "value token"]],
) -> Float[np.ndarray, "value token"]:
    """Every token's ratio, mean over the layers.

    Source:
        kobayashi-2021, table 3 and figure 4.
    """
    return np.mean([ratios.astype(np.float64) for ratios in layers], axis=0)


def pooled_interval(
    sums: Float[np.ndarray, "block cell"],
    counts: Float[np.ndarray, "block cell"],
    drawn: Redraws,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Percentile bootstrap of Σ sums / Σ counts; a resampled unit brings its sum and its count.

    Returns:
        Lower and upper end of the central 95%; NaN where too few units have the cell.

    Source:
        efron-1979, section 2; the papers give no intervals.
    """
    return drawn.interval(means_of_sums(sums, counts, drawn.weights), counts > 0)
