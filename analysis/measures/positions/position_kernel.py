"""Score of a head by offset, whatever the tokens."""

import numpy as np
from jaxtyping import Complex, Float, Int


def position_kernel(
    means: Complex[np.ndarray, "*head plane"],
    frequencies: Float[np.ndarray, "*head plane"],
    offsets: Int[np.ndarray, " offset"],
) -> Float[np.ndarray, "*head offset"]:
    """K(t) = Re Σ_c m_c e^(−iθ_c t), the mean–mean term of a head's scores.

    Args:
        means: E q conj(E k) of each plane, over the pairs that are compared.
        frequencies: θ in radians per token.

    Returns:
        Scores as they enter the softmax. Unrotated coordinates are left out: they give all offsets
        the same score.

    Source:
        su-2021, section 3.2.1, eq. 12; yamamoto-2023, section 3.5, whose weighted sum it replaces.
    """
    waves = means[..., None] * np.exp(-1j * frequencies[..., None] * offsets)
    return np.real(waves).sum(axis=-2)
