"""Queries and keys of a head as waves along positions: lags, phases and amplitudes."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.query_key_form import HeadRotation, QueryKeyFactors


def query_key_waves(
    inputs: Float[Tensor, "token width"], factors: QueryKeyFactors
) -> tuple[Float[Tensor, "head token direction"], Float[Tensor, "head token direction"]]:
    """Q = [X 1] · query and K = [X 1] · key: queries and keys of a text in a head's directions.

    QSKᵀ are the head's scores before they are divided by √d', S having `factors.values` as its
    diagonal.

    Args:
        inputs: of queries, keys and values.

    Source:
        yamamoto-2023, section 3.3.
    """
    queries, keys = (inputs @ side[:, :-1] + side[:, -1:] for side in (factors.query, factors.key))
    return queries, keys


def cross_covariance(
    queries: Float[Tensor, "*any token direction"], keys: Float[Tensor, "*any token direction"]
) -> Float[Tensor, "*any diagonal direction"]:
    """xcov_j(t) = Σ_i q_ij k_{i+t, j} for every offset t from −(n − 1) to n − 1.

    By Fourier transforms of waves with as many zeros after them, in float64. t > 0 means that the
    key stands after the query, to its right.

    Source:
        yamamoto-2023, section 3.5, eq. 11.
    """
    n = queries.shape[-2]
    padded = 2 * n
    query, key = (torch.fft.rfft(wave.double(), n=padded, dim=-2) for wave in (queries, keys))
    products = torch.fft.irfft(query.conj() * key, n=padded, dim=-2)
    return torch.cat([products[..., n + 1 :, :], products[..., :n, :]], dim=-2)


def cross_correlation(
    queries: Float[Tensor, "*any token direction"], keys: Float[Tensor, "*any token direction"]
) -> Float[Tensor, "*any diagonal direction"]:
    """xcorr_j(t) = (xcov_j(t) − mean over all t) / (‖q_j‖ ‖k_j‖).

    Returns:
        Within −2 … 2; NaN for a direction in which all queries or all keys are 0.

    Source:
        yamamoto-2023, section 3.5, eq. 12.
    """
    covariance = cross_covariance(queries, keys)
    centred = covariance - covariance.mean(dim=-2, keepdim=True)
    lengths = queries.double().norm(dim=-2, keepdim=True) * keys.double().norm(dim=-2, keepdim=True)
    return centred / lengths


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
