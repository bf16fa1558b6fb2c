"""Attention that rests on some tokens of a text, compared with even attention and neighbours."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.head_slices import head_slices
from analysis.measures.norms.vector_norms import norm_weighted_attention


def sink_weights(
    attention: Float[Tensor, "batch head query key"],
    value_norms: Float[Tensor, "batch head key"],
    is_pair: Bool[Tensor, "batch query key"],
    *,
    places: Bool[Tensor, "batch place key"],
) -> Float[Tensor, "batch head place value"]:
    """The quantities of `analysis.sinks.WEIGHTS`, in their order.

    With P the tokens of a place and Q the queries that see any of them, `attention` is the mean
    over Q of Σ_{j∈P} α_ij. `norm_share` is the same mean of ‖α_ij f(x_j)‖ with rows scaled to a sum
    of 1. `even` is the same mean of 1/m_i, m_i being the number of keys that query i sees.
    `neighbour` is the `attention` of as many other tokens, each next to one of P. `value_norm` is
    the mean of ‖f(x_j)‖ over P, `relative_norm` its ratio to the mean of the sequence's other
    tokens.

    Args:
        is_pair: True where a query sees a key and neither is padding.

    Returns:
        Shares from 0 to 1, a norm in units of the residual stream, and a ratio; NaN where a
        sequence has no such token, or nothing to compare it with.

    Source:
        gu-2025, section 3, the mean over queries from k on; kobayashi-2020, section 3.2 for norms.

    Differs:
        Gu et al. take single positions. Attention to a place of several tokens is summed. `even`
        and `neighbour` are ours: uniform attention rests nowhere, and the token next to a sink is
        seen by as many queries.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    tokens, seen, lengths = places.to(exact), is_pair.to(exact), value_norms.to(exact)
    neighbours = _neighbours(places, is_pair.diagonal(dim1=1, dim2=2)).to(exact)
    even = _resting((seen / seen.sum(dim=-1, keepdim=True).clamp(min=1))[:, None], seen, tokens)
    slices = []
    for heads in head_slices(attention.shape):
        weights, of_heads = attention[:, heads].to(exact), lengths[:, heads]
        resting = _resting(weights, seen, tokens)
        quantities = [
            resting,
            even.expand_as(resting),
            _resting(weights, seen, neighbours),
            _resting(norm_weighted_attention(weights, of_heads), seen, tokens),
            _mean(of_heads, tokens),
            _relative(of_heads, tokens, seen.diagonal(dim1=1, dim2=2)),
        ]
        slices.append(torch.stack(quantities, dim=-1))
    return torch.cat(slices, dim=1)


def _resting(
    weights: Float[Tensor, "batch head query key"],
    seen: Float[Tensor, "batch query key"],
    tokens: Float[Tensor, "batch place key"],
) -> Float[Tensor, "batch head place"]:
    """Mean weight of some tokens over the queries that see any of them."""
    looks = (seen @ tokens.mT > 0).to(weights.dtype)
    given = (weights @ tokens.mT[:, None]) * looks[:, None]
    return given.sum(dim=2) / looks.sum(dim=1)[:, None]


def _neighbours(
    places: Bool[Tensor, "batch place key"], is_token: Bool[Tensor, "batch key"]
) -> Float[Tensor, "batch place key"]:
    """Count how often each token is the neighbour of a place: the next, or the one before the last.

    A sequence of a single token has no neighbours.
    """
    behind, before = torch.zeros((2, *places.shape), device=places.device)
    behind[..., 1:] = (places[..., :-1] & is_token[:, None, 1:]).float()
    is_last = is_token & ~torch.nn.functional.pad(is_token[:, 1:], (0, 1))
    before[..., :-1] = (places & is_last[:, None])[..., 1:].float()
    return behind + before


def _mean(
    lengths: Float[Tensor, "batch head key"], tokens: Float[Tensor, "batch place key"]
) -> Float[Tensor, "batch head place"]:
    return lengths @ tokens.mT / tokens.sum(dim=-1)[:, None]


def _relative(
    lengths: Float[Tensor, "batch head key"],
    tokens: Float[Tensor, "batch place key"],
    is_token: Float[Tensor, "batch key"],
) -> Float[Tensor, "batch head place"]:
    """Mean length of some tokens over that of all others; NaN if the others have none."""
    others = _mean(lengths, is_token[:, None] - tokens)
    return torch.where(others > 0, _mean(lengths, tokens) / others, torch.nan)
