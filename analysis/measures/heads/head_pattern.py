"""Attention of heads by kind of token, and gradient of the loss by type of attended token."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.head_slices import head_slices

KEPT = 0.9999
"""Share of a row that smoothing keeps; the rest is spread evenly, so that no weight is 0."""


def head_pattern(
    attention: Float[Tensor, "batch head query key"],
    is_pair: Bool[Tensor, "batch query key"],
    *,
    is_cls: Bool[Tensor, "batch key"],
    is_sep: Bool[Tensor, "batch key"],
    is_comma_period: Bool[Tensor, "batch key"],
    is_first: Bool[Tensor, "batch key"],
    has_sink: bool = False,
) -> Float[Tensor, "batch head value"]:
    """The quantities of `analysis.habits.QUANTITIES`, in their order.

    Weights are Σ α over the pairs of a kind, divided by the number of tokens that attend: [SEP]s
    for `sep_to_sep`, all the others for `other_to_sep`, else all. Entropies are the means of
    −Σ_j a ln a with a = 0.9999 α + 0.0001 / m over the m keys that a query sees; `uniform`
    is the mean of ln m. With sink logits the share of a query that goes to no token is one more
    outcome, so that `uniform` is the mean of ln (m + 1).

    Args:
        is_pair: True where a query sees a key and neither is padding.
        is_first: BOS or the first token of a causal model.
        has_sink: whether rows of `attention` lack the share of a sink logit.

    Returns:
        Shares from 0 to 1 and entropies in nats; NaN where a text has no pair of the kind.

    Source:
        clark-2019, sections 3.1 and 3.3; its released code for the divisors, and for smoothing,
        which the paper does not mention.

    Differs:
        In float32 instead of float16, in which 0.9999 is 1. A kind without a pair is absent and not
        0; [SEP]s are counted, not assumed to be two.
    """
    is_token = is_pair.diagonal(dim1=1, dim2=2)
    kinds = torch.stack([is_cls, is_sep, is_comma_period, is_first], dim=-1)
    received = attention @ kinds[:, None].to(attention.dtype)
    n_pairs = is_pair.float() @ kinds.float()
    everyone = is_token
    others = is_token & ~is_sep
    cls, sep, comma_period, first = range(4)
    weights = [
        *(_diagonal(attention, is_pair, offset) for offset in (0, -1, 1)),
        *(
            _per_query(received[..., to], n_pairs[..., to], queries)
            for to, queries in (
                (cls, everyone),
                (sep, everyone),
                (comma_period, everyone),
                (sep, is_sep),
                (sep, others),
            )
        ),
    ]
    n_keys = is_pair.sum(dim=-1)
    entropies = _entropies(attention, is_pair)
    if has_sink:
        lost = (1 - attention.sum(dim=-1)).clamp(min=0) * is_token[:, None]
        entropies = entropies + torch.special.entr(KEPT * lost)
    outcomes = (n_keys + has_sink).clamp(min=1).to(attention.dtype)
    uniform = outcomes.log()[:, None].expand_as(entropies)
    return torch.stack(
        [
            *weights,
            _per_query(entropies, n_keys, is_token),
            _per_query(entropies, n_keys, is_cls),
            _per_query(received[..., first], n_pairs[..., first], everyone),
            _per_query(uniform, n_keys, is_token),
        ],
        dim=-1,
    )


def _per_query(
    of_queries: Float[Tensor, "batch head query"],
    n_pairs: Tensor,
    queries: Bool[Tensor, "batch query"],
) -> Float[Tensor, "batch head"]:
    """Mean over some queries; NaN if no query has a pair."""
    total = (of_queries * queries[:, None]).sum(dim=-1)
    there = (n_pairs * queries).sum(dim=-1)[:, None] > 0
    return torch.where(there, total / queries.sum(dim=-1)[:, None], torch.nan)


def _diagonal(
    attention: Float[Tensor, "batch head query key"],
    is_pair: Bool[Tensor, "batch query key"],
    offset: int,
) -> Float[Tensor, "batch head"]:
    """Attention to the token at an offset, divided by the number of all tokens."""
    there = is_pair.diagonal(offset, dim1=1, dim2=2)
    total = (attention.diagonal(offset, dim1=2, dim2=3) * there[:, None]).sum(dim=-1)
    n_tokens = is_pair.diagonal(dim1=1, dim2=2).sum(dim=-1)
    return torch.where(there.any(dim=-1)[:, None], total / n_tokens[:, None], torch.nan)


def _entropies(
    attention: Float[Tensor, "batch head query key"], is_pair: Bool[Tensor, "batch query key"]
) -> Float[Tensor, "batch head query"]:
    """The entropy in nats of every smoothed row; 0 where a query is padding."""
    n_keys = is_pair.sum(dim=-1, keepdim=True).clamp(min=1).to(attention.dtype)
    even = (1 - KEPT) / n_keys
    smoothed = (attention * KEPT).add_(even[:, None]).mul_(is_pair[:, None])
    return torch.special.entr(smoothed, out=smoothed).sum(dim=-1)


def gradient_importance(
    gradients: Float[Tensor, "batch head query key"],
    is_pair: Bool[Tensor, "batch query key"],
    is_type: Bool[Tensor, "batch key value"],
) -> Float[Tensor, "batch head value"]:
    """Σ |∂L/∂α| over the pairs with a key of a type, divided by the number of tokens.

    A pair that a causal model does not have counts nothing, whatever its derivative.

    Args:
        gradients: ∂L/∂α, L being the loss of each sequence alone.
        is_pair: True where a query sees a key and neither is padding.
        is_type: True where a key is of a type.

    Returns:
        In the unit of L, since α has none; 0 where a text has no token of the type.

    Source:
        clark-2019, section 3.2, figure 3.

    Differs:
        The paper does not define the loss over masked tokens (sum or mean), nor the sum over the
        gradients of a text. Here the loss is a mean; its gradients are added up over the pairs of a
        type and divided as attention is.
    """
    n_tokens = is_pair.diagonal(dim1=1, dim2=2).sum(dim=-1)
    seen = is_pair.to(gradients.dtype)
    slices = head_slices(gradients.shape)
    received = torch.cat(
        [torch.einsum("bhqk,bqk->bhk", gradients[:, heads].abs(), seen) for heads in slices], dim=1
    )
    return received @ is_type.to(gradients.dtype) / n_tokens[:, None, None]
