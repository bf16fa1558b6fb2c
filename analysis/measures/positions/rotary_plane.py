"""Share of position in each rotary plane of queries and keys, and in the scores."""

from typing import NamedTuple

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from analysis.measures.positions.query_blocks import centred, query_blocks
from analysis.models.rotary import PatchRotary, Rotary
from analysis.models.trace import LayerWeights


class PlaneTotals(NamedTuple):
    """Sums over the pairs (i, j) that a layer compares in one text; sums of several texts add up.

    q and k are the query and the key of a plane before rotation, as complex numbers, the query
    times the scale of the scores; t = j − i, and d_ij is a score less the mean of its row.
    """

    query: Complex[Tensor, "head plane"]
    """Σ q_i"""
    key: Complex[Tensor, "head plane"]
    """Σ k_j"""
    query_square: Float[Tensor, "head plane"]
    """Σ |q_i|²"""
    key_square: Float[Tensor, "head plane"]
    """Σ |k_j|²"""
    turn: Complex[Tensor, "head plane"]
    """Σ d_ij e^(−iθt)"""
    query_turn: Complex[Tensor, "head plane"]
    """Σ d_ij q_i e^(−iθt)"""
    key_turn: Complex[Tensor, "head plane"]
    """Σ d_ij conj(k_j) e^(−iθt)"""
    score: Float[Tensor, "head plane"]
    """Σ d_ij Re(q_i conj(k_j) e^(−iθt))"""
    unturned: Float[Tensor, " head"]
    """The same sum over the unrotated coordinates; with that of all planes it makes Σ d_ij²."""
    n_pairs: int


def planes_of(
    vectors: Float[Tensor, "*any token head_width"], rotary: Rotary | PatchRotary
) -> Complex[Tensor, "*any token plane"]:
    """The coordinates of each plane as one complex number: x_c + i x_{c + planes}.

    Source:
        su-2021, section 3.2.1, eq. 12.
    """
    planes = rotary.planes
    real, imaginary = vectors[..., :planes], vectors[..., planes : 2 * planes]
    return torch.complex(real, imaginary)


def turns(
    n_tokens: int, rotary: Rotary | PatchRotary, like: Float[Tensor, "*any"]
) -> Complex[Tensor, "token plane"]:
    """e^(iθp) of every plane at every place p; of patches, by their angles.

    Source:
        su-2021, section 3.2.1, eq. 12.
    """
    angles = rotary.angles(n_tokens, like)
    return torch.complex(angles.cos(), angles.sin())


def plane_totals(read: Float[Tensor, "token width"], weights: LayerWeights) -> PlaneTotals:
    """Sum the terms of one text, by head and plane of a layer.

    From the sums of any number of texts follow:
    - E q and E k over the pairs;
    - the score that a plane gives an offset by position alone, Re(E q conj(E k) e^(−iθt));
    - its coherence, |E q| |E k| / √(E|q|² E|k|²): 1 where all queries are equal and all keys are,
      and 0 where one side has mean 0;
    - the covariance of the scores with the parts of position, query and key.

    Args:
        read: input of attention, of one text without padding.
        weights: of a layer that rotates its queries and keys.

    Returns:
        Sums in float64; scores as they enter the softmax.

    Source:
        su-2021, section 3.2.1, eq. 12; yamamoto-2023, section 3.4, whose phase it is.

    Differs:
        The paper's phases are those of a rotation between singular directions, which does not occur
        in scores of rotated queries and keys. Here they are those of the mean query and the mean
        key. Rows are centred, since the softmax is invariant to a score that all keys of a query
        share.
    """
    rotary = weights.rotary
    if not isinstance(rotary, Rotary):
        raise ValueError("The layer does not turn its queries and keys by their places in a text.")
    queries, keys = weights.compared(read)
    queries = queries * weights.score_scale
    turn = turns(len(read), rotary, read)
    query, key = (planes_of(side, rotary) for side in (queries, keys))
    sides = torch.cat([turn.real, -turn.imag], dim=-1).expand(len(keys), -1, -1)
    sides = torch.cat([keys, sides], dim=-1)
    products, n_keys = [], []
    n_queries = torch.zeros(len(read), 1, dtype=torch.long, device=read.device)
    for rows, span, seen in query_blocks(weights, len(read)):
        deviations = centred(queries[:, rows] @ keys[:, span].mT, seen)
        products.append(deviations @ sides[:, span])
        n_keys.append(seen.sum(dim=1)[:, None])
        n_queries[span] += seen.sum(dim=0)[:, None]
    n_keys, planes = torch.cat(n_keys), rotary.planes
    with_keys, *waves = torch.cat(products, dim=1).split([keys.shape[-1], planes, planes], dim=-1)
    by_query = torch.complex(*waves)
    by_coordinate = _total(queries * with_keys)
    return PlaneTotals(
        query=_total(query * turn.conj() * n_keys),
        key=_total(key * turn.conj() * n_queries),
        query_square=_total(query.abs().square() * n_keys),
        key_square=_total(key.abs().square() * n_queries),
        turn=_total(turn * by_query),
        query_turn=_total(query * by_query),
        key_turn=_total(turn * planes_of(with_keys, rotary).conj()),
        score=by_coordinate[:, :planes] + by_coordinate[:, planes : 2 * planes],
        unturned=by_coordinate[:, 2 * planes :].sum(dim=1),
        n_pairs=int(n_keys.sum()),
    )


def _total(values: Tensor) -> Tensor:
    """Sum over tokens, in 64 bits."""
    wide = torch.complex128 if values.is_complex() else torch.float64
    return values.sum(dim=1, dtype=wide)
