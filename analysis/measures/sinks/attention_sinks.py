"""Attention that rests on some tokens: shares of weights and norms, and parts of scores."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.head_slices import head_slices
from analysis.measures.norms.vector_norms import norm_weighted_attention
from analysis.models.trace import LayerWeights


def sink_weights(
    attention: Float[Tensor, "batch head query key"],
    value_norms: Float[Tensor, "batch head key"],
    is_pair: Bool[Tensor, "batch query key"],
    *,
    places: Bool[Tensor, "batch place key"],
    pair_norms: Float[Tensor, "batch head #query key"] | None = None,
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
        pair_norms: ‖f(x)‖ of every pair, if it is not that of the token for every query.

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
        norms = of_heads[..., None, :] if pair_norms is None else pair_norms[:, heads]
        resting = _resting(weights, seen, tokens)
        quantities = [
            resting,
            even.expand_as(resting),
            _resting(weights, seen, neighbours),
            _resting(norm_weighted_attention(weights, norms), seen, tokens),
            _mean(of_heads, tokens),
            _relative(of_heads, tokens, seen.diagonal(dim1=1, dim2=2)),
        ]
        slices.append(torch.stack(quantities, dim=-1))
    return torch.cat(slices, dim=1)


def shares_of_no_token(
    attention: Float[Tensor, "batch head query key"], is_pair: Bool[Tensor, "batch query key"]
) -> Float[Tensor, "batch head value"]:
    """The quantities of `analysis.sinks.NO_TOKEN`, in their order.

    Where a head's sink logit enters the softmax, 1 − Σ_j α_ij of a query i goes to no token.
    `no_token` is its mean over the queries, `early` and `late` over the first and the second half
    of them. `even` is the mean of 1 / (m_i + 1), m_i being the number of keys that query i sees:
    that of a head that attends to all of them and to none alike. `first` is the mean of α_i0.

    Args:
        is_pair: True where a query sees a key and neither is padding.

    Returns:
        Shares from 0 to 1; NaN for the halves of a single token.

    Source:
        openai-2025, section on the architecture: the logit; its share is ours.
    """
    exact = torch.promote_types(attention.dtype, torch.float32)
    is_token = is_pair.diagonal(dim1=1, dim2=2)
    n_tokens = is_token.sum(dim=1, keepdim=True)
    is_late = 2 * is_token.cumsum(dim=1) > n_tokens + 1
    halves = [(side & is_token) & (n_tokens > 1) for side in (~is_late, is_late)]
    queries = torch.stack([is_token, *halves], dim=1).to(exact)
    means = queries / queries.sum(dim=2, keepdim=True)
    lost = 1 - (attention.to(exact) * is_pair[:, None]).sum(dim=3)
    every, early, late = (lost @ means.mT).unbind(dim=2)
    even = (1 / (is_pair.sum(dim=2) + 1).to(exact) * means[:, 0]).sum(dim=1)
    first = (attention[..., 0].to(exact) * means[:, :1]).sum(dim=2)
    return torch.stack([every, even[:, None].expand_as(every), first, early, late], dim=2)


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


def sink_scores(
    read: Float[Tensor, "batch token width"],
    weights: LayerWeights,
    is_pair: Bool[Tensor, "batch query key"],
    *,
    places: Bool[Tensor, "batch place key"],
) -> Float[Tensor, "batch head place value"]:
    """The quantities of `analysis.sinks.SCORES`, in their order.

    A key is k_j = u_j + b_j, b_j being the key's bias as it is compared: rotated by the token's
    position where the layer rotates keys. With P the tokens of a place that a query sees, O the
    others that it sees, ⟨·⟩ means over them, ℓ = ⟨‖u_j‖⟩ and c = ⟨q_i·u_j⟩ / ℓ,

        excess    = ⟨q_i·k_j⟩_P − ⟨q_i·k_j⟩_O = norm + direction + bias
        norm      = (ℓ_P − ℓ_O) (c_P + c_O) / 2
        direction = (c_P − c_O) (ℓ_P + ℓ_O) / 2
        bias      = ⟨q_i·b_j⟩_P − ⟨q_i·b_j⟩_O

    each times the layer's scale, mean over the queries that see both P and O. `query_bias` is the
    part of the same excess that the query's bias alone makes, without the query's content.

    Args:
        read: the vectors that queries and keys are projected from.
        is_pair: True where a query sees a key and neither is padding.

    Returns:
        Scores, so differences of log weights; NaN where no query sees both. `bias` is NaN where the
        layer has no key bias, does not rotate keys (a bias that all keys share raises none above
        another), or normalises whole keys. `query_bias` is NaN where queries have no bias or are
        normalised.

    Source:
        gu-2025, section on key biases and the angles between queries and keys, whose product ‖q‖‖k‖
        cos this is; the difference of two products is shared out between their factors as Shapley
        values have it.

    Differs:
        Gu et al. show norms and cosines of whole keys. A vector added to all keys changes no
        attention, but every length and angle, so the bias is subtracted first.
    """
    sides = _sides(read.to(torch.promote_types(read.dtype, torch.float32)), weights)
    seen, own = is_pair.to(sides.queries.dtype), places.to(sides.queries.dtype)
    others = is_pair.diagonal(dim1=1, dim2=2)[:, None] & ~places
    groups = _Groups(seen, own.mT, others.to(own.dtype).mT)
    shape = (*sides.queries.shape[:3], sides.keys.shape[2])
    slices = [_terms(groups, sides.of(heads)) for heads in head_slices(shape)]
    return torch.cat([groups.over_queries(terms * weights.score_scale) for terms in slices], dim=1)


def _terms(groups: "_Groups", sides: "_Sides") -> Float[Tensor, "batch head query place value"]:
    """Return the parts for every query, before scaling."""
    bias = groups.difference(sides.queries @ sides.key_bias.mT)
    lengths = groups.means_of_keys(sides.keys.norm(dim=-1))
    means = groups.means(sides.queries @ sides.keys.mT)
    angles = [_over(mean, length) for mean, length in zip(means, lengths, strict=True)]
    keys = sides.keys + sides.key_bias.nan_to_num()
    return torch.stack(
        [
            means[0] - means[1] + bias.nan_to_num(),
            (lengths[0] - lengths[1]) * (angles[0] + angles[1]) / 2,
            (angles[0] - angles[1]) * (lengths[0] + lengths[1]) / 2,
            bias,
            groups.difference(sides.query_bias @ keys.mT),
        ],
        dim=-1,
    )


class _Sides(NamedTuple):
    """Queries and keys as they are compared, and their biases; NaN if absent or not additive. Keys
    exclude their bias, unless it is NaN."""

    queries: Float[Tensor, "batch head query head_width"]
    keys: Float[Tensor, "batch head key head_width"]
    query_bias: Float[Tensor, "one head query head_width"]
    key_bias: Float[Tensor, "one head key head_width"]

    def of(self, heads: slice) -> "_Sides":
        """Return the sides of some heads."""
        return _Sides(*(side[:, heads] for side in self))


def _sides(read: Float[Tensor, "batch token width"], weights: LayerWeights) -> _Sides:
    queries, keys = weights.queries(read), weights.keys(read)
    n_tokens = read.shape[1]
    if weights.key_norm is None:
        keys = keys - weights.key_bias[:, None]
    key_bias = _bias(weights.key_bias, weights.key_norm, n_tokens)
    if weights.rotary is None:
        key_bias = torch.full_like(key_bias, torch.nan)
    sides = (queries, keys, _bias(weights.query_bias, weights.query_norm, n_tokens), key_bias)
    return _Sides(*(weights.rotary.turned(side) if weights.rotary else side for side in sides))


def _bias(
    bias: Float[Tensor, "head head_width"], norm: object, n_tokens: int
) -> Float[Tensor, "one head token head_width"]:
    """A bias for every token; NaN if absent, or not additive because of a norm."""
    summand = bias if norm is None and bool(bias.any()) else torch.full_like(bias, torch.nan)
    return summand[None, :, None].expand(-1, -1, n_tokens, -1)


class _Groups(NamedTuple):
    """Masks of the keys that queries see, of those of a place, and of all others."""

    seen: Float[Tensor, "batch query key"]
    own: Float[Tensor, "batch key place"]
    others: Float[Tensor, "batch key place"]

    def means(
        self, scores: Float[Tensor, "batch head query key"]
    ) -> list[Float[Tensor, "batch head query place"]]:
        """Means over the visible keys of each side, for every query."""
        visible = scores * self.seen[:, None]
        return [
            _over(visible @ side[:, None], (self.seen @ side)[:, None])
            for side in (self.own, self.others)
        ]

    def difference(
        self, scores: Float[Tensor, "batch head query key"]
    ) -> Float[Tensor, "batch head query place"]:
        """Means over the visible keys of a place minus those over the others, for every query."""
        own, others = self.means(scores)
        return own - others

    def means_of_keys(
        self, values: Float[Tensor, "batch head key"]
    ) -> list[Float[Tensor, "batch head query place"]]:
        """Means over the visible keys of each side, of values that no query changes."""
        return self.means(values[:, :, None].expand(-1, -1, self.seen.shape[1], -1))

    def over_queries(
        self, values: Float[Tensor, "batch head query place value"]
    ) -> Float[Tensor, "batch head place value"]:
        """Means over the queries that see both sides."""
        sees = (self.seen @ self.own > 0) & (self.seen @ self.others > 0)
        given = torch.where(sees[:, None, :, :, None], values, 0.0).sum(dim=2)
        return given / sees.sum(dim=1)[:, None, :, None]


def _over(total: Tensor, size: Tensor) -> Tensor:
    """A quotient; 0 where the divisor is 0."""
    return torch.where(size > 0, total / size, torch.zeros_like(total))
