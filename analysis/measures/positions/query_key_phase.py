"""Phase and amplitude of a head's queries and keys by frequency."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.query_key_rotation import HeadRotation


def phase_amplitudes(
    inputs: Float[Tensor, "token width"], rotation: HeadRotation
) -> Float[Tensor, "plane frequency"]:
    """g(f, θ) = |Σ_t ([X 1] w)_t e^(−2πift/T)| for every eigenvector w of the rotation, f ≥ 0.

    [X 1] w are queries as the plane sees them; the keys are [X 1] T w = e^(iθ) [X 1] w and have the
    same amplitudes. At t they are like the queries at t + Δ, Δ(f, θ) = 512 θ / (2π f) with f in
    cycles per 512 tokens. A plane with −θ stands for the frequency −f of that with θ.

    The transform is taken of the real waves [X 1] · basis and then combined.

    Source:
        yamamoto-2023, section 3.4, figure 6.
    """
    waves = inputs @ rotation.basis[:-1] + rotation.basis[-1]
    if not len(rotation.phases):  # a head that compares nothing; transforms want a wave
        return waves.new_zeros(0, len(inputs) // 2 + 1)
    coefficients = torch.fft.rfft(waves, dim=0)
    return (coefficients @ rotation.vectors.to(coefficients.dtype)).abs().mT
