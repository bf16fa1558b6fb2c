"""yamamoto-2023, section 3.4: both sides of every plane, coefficient by coefficient."""

import numpy as np

from tests.reference.positions.amplitude_spectrum import amplitude


def both_sides(inputs, rotation, vector, k):
    """|FT([X 1] w)| and |FT([X 1] T w)| at k, T being a whole matrix."""
    affine = np.hstack([inputs, np.ones((len(inputs), 1))])
    queries, keys = affine @ vector, affine @ (rotation @ vector)
    return amplitude(queries.tolist(), k), amplitude(keys.tolist(), k)


def shift_in_tokens(frequency, phase):
    """Δ(f, θ): the key's wave at t is the query's at t + Δ."""
    return 512 * phase / (2 * np.pi * frequency)
