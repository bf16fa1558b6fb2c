"""Queries and keys of a head as waves along positions, and how far one lags the other."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.query_key_factors import QueryKeyFactors


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
