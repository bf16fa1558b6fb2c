"""A whole post-norm layer as a sum over its input tokens, seen at every scope."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.activation_gate import activation_gate
from analysis.models.trace import LayerTrace
from analysis.scopes import SCOPES

BUDGET = 8 * 2**20
"""Bytes that the hidden vectors of pairs may take at a time."""


@dataclass(frozen=True)
class LayerMixing:
    """How much of every token reaches every other in one layer of one sequence.

    `maps` holds ‖F_i(x_j)‖ by scope of `SCOPES` (for `attn_w`: the head mean of α); `ratios` the
    mixing ratio r_i; `error` the largest difference between the sum of the parts and the model's
    own layer output, over the largest output.
    """

    maps: Float[Tensor, "scope query key"]
    ratios: Float[Tensor, "scope query"]
    error: float


def layer_mixing(
    layer: LayerTrace, *, budget: int = BUDGET, dtype: torch.dtype | None = None
) -> LayerMixing:
    """The norms of all parts of one sequence's layer, and proof that the parts add up.

    Given the query i every module is linear: attention by its weights, layer normalisation by the
    deviation of the whole vector, the activation by its gate. Each head's f(x_j), and x_j itself as
    the term of the residual, is projected once per token; pairs only mix these terms.

    Args:
        layer: a trace of a single sequence without padding.
        budget: bytes for the hidden vectors of pairs, which are made a few keys at a time.
        dtype: number format of the hidden vectors of pairs; that of the trace if None.

    Source:
        kobayashi-2024, section 4, and kobayashi-2021, section 3.

    Differs:
        Biases have a term of their own at every step and are given to no token.
    """
    norm = layer.weights.attention_norm
    whole = layer.attention_output[0] + layer.input[0]
    deviation = norm.deviation(whole)
    terms, shares = _terms(layer), _shares(layer.attention[0])
    normed = _Mixture(norm.centred(terms), shares / deviation)
    forward = _FeedForward(layer, norm.centred(whole) / deviation + norm.shift)
    before = _before_feed_forward(normed)
    passed = _feed_forward_scopes(forward, normed, before, budget, dtype or terms.dtype)
    scopes = {
        "attn_w": _of_weights(layer.attention[0].mean(dim=0)),
        "attn": _before_feed_forward(_Mixture(terms[:, :-1], shares[..., :-1])),
        "attn_res": _before_feed_forward(_Mixture(terms, shares)),
        "attn_res_ln": before,
    } | dict(zip(SCOPES[4:], passed, strict=True))
    bias = norm.centred(layer.weights.output_bias) / deviation + norm.shift
    rebuilt = passed[-1].sums + forward.bias_of_output(bias)
    error = (rebuilt - layer.output[0]).abs().max() / layer.output[0].abs().max()
    return LayerMixing(
        maps=torch.stack([scopes[each].map for each in SCOPES]).cpu(),
        ratios=torch.stack([scopes[each].ratio() for each in SCOPES]).cpu(),
        error=error.item(),
    )


@dataclass(frozen=True)
class _Mixture:
    """Vectors F_i(x_j) = Σ_t shares[j, i, t] · terms[j, t], not yet multiplied out."""

    terms: Float[Tensor, "key term width"]
    shares: Float[Tensor, "key query term"]


@dataclass(frozen=True)
class _Scope:
    """Norms per pair, and the vectors Σ_j F_i(x_j) and F_i(x_i) of every query."""

    map: Float[Tensor, "query key"]
    sums: Float[Tensor, "query width"]
    own: Float[Tensor, "query width"]

    def ratio(self) -> Float[Tensor, " query"]:
        """r_i = ‖Σ_{j≠i} F_i(x_j)‖ / (‖Σ_{j≠i} F_i(x_j)‖ + ‖F_i(x_i)‖)."""
        context = (self.sums - self.own).norm(dim=-1)
        return context / (context + self.own.norm(dim=-1))


def _terms(layer: LayerTrace) -> Float[Tensor, "key term width"]:
    """f(x_j) of every head, then x_j."""
    transformed = layer.values[0] @ layer.weights.output_weight
    return torch.cat([transformed.transpose(0, 1), layer.input[0].unsqueeze(1)], dim=1)


def _shares(attention: Float[Tensor, "head query key"]) -> Float[Tensor, "key query term"]:
    """α of every head, then the residual's: 1 where the key is the query."""
    itself = torch.eye(attention.shape[-1], dtype=attention.dtype, device=attention.device)
    return torch.cat([attention, itself.unsqueeze(0)]).permute(2, 1, 0).contiguous()


def _of_weights(attention: Float[Tensor, "query key"]) -> _Scope:
    """Weights instead of vectors: each a vector of one coordinate, so that r_i = 1 − α_ii."""
    own = attention.diagonal().unsqueeze(1)
    return _Scope(attention, attention.sum(dim=1, keepdim=True), own)


def _before_feed_forward(mixture: _Mixture) -> _Scope:
    """‖F_i(x_j)‖² = Σ_tu shares_t shares_u ⟨term_t, term_u⟩: no vector per pair is needed."""
    terms, shares = mixture.terms, mixture.shares
    products = terms @ terms.mT
    squares = ((shares @ products) * shares).sum(dim=-1)
    by_query = shares.transpose(0, 1)
    sums = by_query.flatten(1) @ terms.flatten(0, 1)
    own = (by_query.diagonal().T.unsqueeze(1) @ terms).squeeze(1)
    return _Scope(squares.clamp_min(0).sqrt().T, sums, own)


class _FeedForward:
    """What the second half of a layer does to any part of its input, given the query."""

    def __init__(self, layer: LayerTrace, inputs: Float[Tensor, "query width"]):
        weights = layer.weights.feed_forward
        self.layer = layer
        hidden = inputs @ weights.input_weight + weights.input_bias
        self.weights = weights
        self.norm = layer.weights.output_norm
        self.gate = activation_gate(hidden, weights.activation)
        passed = (self.gate * hidden) @ weights.output_weight + weights.output_bias
        self.deviation = self.norm.deviation(passed + inputs)

    def hidden_terms(
        self, residuals: Float[Tensor, "key width"]
    ) -> Float[Tensor, "key term hidden"]:
        """Every term in the hidden layer; heads take the short way, from their values."""
        heads = (self.layer.values[0] @ self.layer.weights.hidden_weight).transpose(0, 1)
        return torch.cat([heads, (residuals @ self.weights.input_weight).unsqueeze(1)], dim=1)

    def normed(self, parts: Float[Tensor, "*any query width"]) -> Float[Tensor, "*any query width"]:
        """The last layer normalisation."""
        return self.norm.centred(parts) / self.deviation

    def bias_of_output(self, bias: Float[Tensor, "query width"]) -> Float[Tensor, "query width"]:
        """What the layer adds that no token sent, from what of it entered here."""
        weights = self.weights
        hidden = self.gate * (bias @ weights.input_weight + weights.input_bias)
        passed = hidden @ weights.output_weight + weights.output_bias
        return self.normed(passed + bias) + self.norm.shift


def _feed_forward_scopes(
    forward: _FeedForward, mixture: _Mixture, before: _Scope, budget: int, dtype: torch.dtype
) -> tuple[_Scope, _Scope, _Scope]:
    """Through the network, with the residual after it, and through the last normalisation.

    These need a hidden vector per pair. They are made for a few keys at a time, and of every vector
    only its norm, its part in the sum and the query's own are kept.
    """
    terms, shares = mixture.terms, mixture.shares
    n_tokens, width = len(terms), terms.shape[-1]
    hidden_terms = forward.hidden_terms(terms[:, -1]).to(dtype)
    hidden_shares = shares.to(dtype)
    output_weight, gate = forward.weights.output_weight.to(dtype), forward.gate.to(dtype)
    n_keys = min(n_tokens, max(1, budget // (gate.numel() * gate.element_size())))
    hidden = gate.new_empty(n_keys, *gate.shape)  # filled again and again: fresh memory is slow
    maps = terms.new_empty(3, n_tokens, n_tokens)
    sums, own = terms.new_zeros(2, n_tokens, width)
    for start in range(0, n_tokens, n_keys):
        keys = slice(start, min(start + n_keys, n_tokens))
        part = hidden[: keys.stop - start]
        torch.bmm(hidden_shares[keys], hidden_terms[keys], out=part)
        parts = (part.mul_(gate) @ output_weight).to(terms.dtype)
        sums += parts.sum(dim=0)
        each = torch.arange(len(parts), device=parts.device)
        own[keys] = parts[each, start + each]
        maps[0, keys] = parts.norm(dim=-1)
        parts.baddbmm_(shares[keys], terms[keys])
        maps[1, keys] = parts.norm(dim=-1)
        maps[2, keys] = forward.norm.centred(parts).norm(dim=-1) / forward.deviation.T
    passed = _Scope(maps[0].T, sums, own)
    residual = _Scope(maps[1].T, sums + before.sums, own + before.own)
    normed = _Scope(maps[2].T, forward.normed(residual.sums), forward.normed(residual.own))
    return passed, residual, normed
