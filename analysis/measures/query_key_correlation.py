"""How well a head's keys at one place match its queries at another, by relative position alone."""

from typing import cast

import torch
from jaxtyping import Float
from scipy.fft import next_fast_len
from torch import Tensor


def weighted_covariance(
    queries: Float[Tensor, "head token direction"],
    values: Float[Tensor, "head direction"],
    keys: Float[Tensor, "head token direction"],
    *,
    reach: int,
) -> Float[Tensor, "head offset"]:
    """Σ_j s_j xcov_j(t) with xcov_j(t) = Σ_i q_{i,j} k_{i+t,j}, which is tr_t(Q S Kᵀ).

    By way of the spectra, which are padded so that no offset within reach wraps around; adding up
    diagonals of all scores takes several times as long.

    Returns:
        For t from −reach to reach, scores before they are divided by √d'; where the sequence has no
        two tokens so far apart, nothing is added up and there is 0 but for rounding.

    Source:
        yamamoto-2023, section 3.5, eq. 11 and 13 to 15.
    """
    length = cast(int, next_fast_len(queries.shape[1] + reach, real=True))
    spectra = [torch.fft.rfft(side, n=length, dim=1) for side in (queries, keys)]
    products = (spectra[0].conj() * spectra[1] * values[:, None]).sum(dim=-1)
    around = torch.fft.irfft(products, n=length, dim=1)
    return torch.cat([around[:, length - reach :], around[:, : reach + 1]], dim=1)
