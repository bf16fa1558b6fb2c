"""How the probability of a class changes as patches go or come in the order of a map."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.integrate import trapezoid


def removal_order(
    relevance: Float[np.ndarray, " patch"], draw: Int[np.ndarray, " patch"]
) -> Int[np.ndarray, " patch"]:
    """The patches by falling relevance; those of equal relevance in the order of a random draw.

    Args:
        draw: places of the patches in a random order, which an even map is left with.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.

    Differs:
        Ties, which the paper does not speak of, are not broken by where a patch is.
    """
    return np.lexsort((draw, -relevance))


def kept_patches(
    order: Int[np.ndarray, " patch"], n_steps: int
) -> tuple[Bool[np.ndarray, "variant patch"], Bool[np.ndarray, "variant patch"]]:
    """Which patches are still there as the first ones of an order go, and which as they come.

    Step k of n takes k / n of the patches, rounded to whole ones, halves upwards.

    Returns:
        Deletion, then insertion; n_steps + 1 variants each, from no patch taken to all of them.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.

    Differs:
        In steps of a share of the patches, which are what the model mixes, and not of pixels; what
        is gone shows the image's mean colour in both directions, and not grey or a blurred image.
    """
    steps = np.arange(n_steps + 1)
    n_taken = (2 * steps * len(order) + n_steps) // (2 * n_steps)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    taken = place < n_taken[:, None]
    return ~taken, taken


def area_under_curve(probabilities: Float[np.ndarray, "row value"]) -> Float[np.ndarray, " row"]:
    """The area under curves whose steps are equally wide and 1 in sum, by trapezoids.

    Source:
        petsiuk-2018, the metrics of deletion and insertion.
    """
    return trapezoid(probabilities, dx=1 / (probabilities.shape[1] - 1), axis=1)
