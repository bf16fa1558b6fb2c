"""Deletion and insertion of patches in the order of a relevance map, and areas under curves."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.integrate import trapezoid


def removal_order(
    relevance: Float[np.ndarray, " patch"], draw: Int[np.ndarray, " patch"]
) -> Int[np.ndarray, " patch"]:
    """The patches by falling relevance; ties in the order of a random draw.

    Args:
        draw: places of the patches in a random order, which decides ties.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.

    Differs:
        The paper does not mention ties; here the place of a patch never breaks them.
    """
    return np.lexsort((draw, -relevance))


def kept_patches(
    order: Int[np.ndarray, " patch"], n_steps: int
) -> tuple[Bool[np.ndarray, "variant patch"], Bool[np.ndarray, "variant patch"]]:
    """Patches kept while deleting and inserting in an order, as masks.

    Step k of n takes k / n of the patches, rounded to whole ones, halves upwards.

    Returns:
        Deletion, then insertion; n_steps + 1 variants each, from no patch taken to all of them.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.

    Differs:
        Steps are shares of the patches, the units that the model mixes, and not of pixels. A
        removed patch shows the image's mean colour in both directions, not grey or a blurred image.
    """
    steps = np.arange(n_steps + 1)
    n_taken = (2 * steps * len(order) + n_steps) // (2 * n_steps)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    taken = place < n_taken[:, None]
    return ~taken, taken


def area_under_curve(probabilities: Float[np.ndarray, "row value"]) -> Float[np.ndarray, " row"]:
    """Area under curves by trapezoids, for steps of equal width that span 1.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.
    """
    return trapezoid(probabilities, dx=1 / (probabilities.shape[1] - 1), axis=1)
