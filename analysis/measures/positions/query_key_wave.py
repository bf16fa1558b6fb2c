"""Queries and keys of a head as waves along positions, and their cross-covariance by offset."""

from typing import cast

import torch
from jaxtyping import Float
from scipy.fft import next_fast_len
from torch import Tensor

from analysis.measures.positions.query_key_form import HeadRotation, QueryKeyFactors
from analysis.measures.positions.relative_position_profile import add_diagonals
from analysis.measures.positions.score_sums import centred, query_blocks
from analysis.models.trace import LayerWeights


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


def scored_waves(
    inputs: Float[Tensor, "token width"], weights: LayerWeights
) -> tuple[
    Float[Tensor, "head token direction"],
    Float[Tensor, "head direction"],
    Float[Tensor, "head token direction"],
]:
    """Queries Q, values s and keys K with Q S Kᵀ the scores of a layer before scaling.

    By default these are a head's singular directions and values. A layer that normalises or rotates
    queries and keys has no bilinear form in its input: there Q and K are the coordinates as they
    are compared, each with the value 1, and those of a plane together are Re Σ_i q_i conj(k_{i+t})
    e^(−iθt) at offset t.

    Source:
        yamamoto-2023, section 3.3; su-2021, section 3.2.1, eq. 12.
    """
    if weights.compares_directions:
        queries, keys = query_key_waves(inputs, weights.query_key)
        return queries, weights.query_key.values, keys
    queries, keys = weights.compared(inputs)
    return queries, queries.new_ones(len(queries), queries.shape[-1]), keys


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


def centred_covariance(
    queries: Float[Tensor, "head token direction"],
    values: Float[Tensor, "head direction"],
    keys: Float[Tensor, "head token direction"],
    *,
    reach: int,
    is_causal: bool,
    window: int | None = None,
) -> Float[Tensor, "head offset"]:
    """Σ_j s_j xcov_j(t) of scores less their row's mean, to which the softmax is invariant.

    Σ_i (s_{i,i+t} − s̄_i), with s̄_i the mean score of the keys that query i sees. The part that
    depends on the query alone cancels in the softmax, and would favour the offsets with most pairs,
    or fewest.

    Returns:
        For t from −reach to reach; 0 but for rounding where no two tokens are so far apart. Values
        beyond a window are of pairs that the layer does not compare.

    Source:
        yamamoto-2023, section 3.5, eq. 15.

    Differs:
        The paper adds up the scores themselves.
    """
    n = queries.shape[1]
    places = torch.arange(n, device=keys.device)
    first_seen = (places - n if window is None else places - window).clamp_min(0)
    end_seen = places + 1 if is_causal else places + (n if window is None else window + 1)
    end_seen = end_seen.clamp_max(n)
    until = torch.nn.functional.pad(keys.cumsum(dim=1), (0, 0, 1, 0))
    seen = until[:, end_seen] - until[:, first_seen]
    mean_keys = seen / (end_seen - first_seen).to(keys)[:, None]
    row_means = (queries * values[:, None] * mean_keys).sum(dim=-1)
    sums = torch.nn.functional.pad(row_means.cumsum(dim=1), (1, 0))
    offsets = torch.arange(-reach, reach + 1, device=keys.device)
    first, end = (-offsets).clamp(0, n), (n - offsets).clamp(0, n)
    of_rows = (sums[:, end] - sums[:, first]) * (end > first)
    return weighted_covariance(queries, values, keys, reach=reach) - of_rows


def written_out(
    read: Float[Tensor, "token width"], weights: LayerWeights
) -> tuple[Float[Tensor, "head diagonal"], Float[Tensor, "head diagonal"]]:
    """Sums along all diagonals of explicit scores, and of scores less the mean of their row.

    For scores before scaling that are no product of queries and keys; only visible pairs count.

    Args:
        read: input of attention, of one text without padding.

    Source:
        yamamoto-2023, section 3.5, eq. 15.
    """
    queries, keys = weights.compared(read)
    sums = queries.new_zeros(2, len(queries), 2 * len(read) - 1)
    for rows, _, seen in query_blocks(weights, len(read)):
        scores = weights.products_of(queries, keys, rows)
        for total, values in zip(sums, (scores * seen, centred(scores, seen)), strict=True):
            add_diagonals(total, values, rows.start)
    return sums[0], sums[1]
