"""The relative position that a head prefers."""

import numpy as np
from jaxtyping import Float, Int


def preferred_offsets(
    values: Float[np.ndarray, "row offset"], offsets: Int[np.ndarray, " offset"]
) -> Int[np.ndarray, " row"]:
    """The offset with the largest value; of equal ones the nearest, of two as near the left.

    Source:
        yamamoto-2023, section 3.5.
    """
    nearest_first = np.lexsort((offsets, np.abs(offsets)))
    return offsets[nearest_first][values[:, nearest_first].argmax(axis=1)]
