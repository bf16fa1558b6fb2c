"""To which kind of attention by relative position a head belongs in each text."""

import numpy as np
from jaxtyping import Float, Int


def nearest_centres(
    profiles: Float[np.ndarray, "row offset"], centres: Float[np.ndarray, "cluster offset"]
) -> Int[np.ndarray, " row"]:
    """Place of the centre at the smallest Euclidean distance; the first of several.

    Source:
        yamamoto-2023, section 3.1.
    """
    nearness = profiles @ centres.T - np.square(centres).sum(axis=1) / 2
    return nearness.argmax(axis=1)
