"""A whole layer as a sum over its input tokens, seen at every scope of its order."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import activation_gate
from analysis.measures.mixing.bias_reading import shared_out
from analysis.measures.mixing.completeness import layer_errors
from analysis.models.trace import LayerTrace
from analysis.scopes import BIAS_READINGS

BUDGET = 8 * 2**20
"""Bytes that the hidden vectors of pairs may take at a time."""


@dataclass(frozen=True)
class LayerMixing:
    """How much of every token reaches every other in one layer of one sequence.

    `maps` holds ‖F_i(x_j)‖ by scope of the layer's order (for `attn_w`: the head mean of α), 0
    where a query does not see a key; `ratios` the mixing ratio r_i; `errors` how much of every
    token's output the sum of its parts misses.
    """

    maps: Float[Tensor, "scope query key"]
    ratios: Float[Tensor, "scope query"]
    errors: Float[Tensor, " query"]


def layer_mixing(
    layer: LayerTrace,
    *,
    budget: int = BUDGET,
    dtype: torch.dtype | None = None,
    bias_reading: str = BIAS_READINGS[0],
) -> LayerMixing:
    """The norms of all parts of one sequence's layer, and proof that the parts add up.

    Given the query i every module is linear: attention by its weights, layer normalisation by the
    deviation of the whole vector, the activation by its gate. Each head's f(x_j), and x_j itself as
    the term of the residual, is projected once per token; pairs only mix these terms. In a pre-norm
    layer f is of the normalised token, a function of x_j alone; the residual is of x_j itself, and
    what goes around the network is not normalised.

    Args:
        layer: a trace of a single sequence without padding.
        budget: bytes for the hidden vectors of pairs, which are made a few keys at a time.
        dtype: number format of the hidden vectors of pairs; that of the trace if None.
        bias_reading: one of `BIAS_READINGS`.

    Source:
        kobayashi-2024, section 4, and kobayashi-2021, section 3.

    Differs:
        Biases have a term of their own at every step and are given to no token. The papers' layers
        are post-norm; the same steps in the other order are ours.
    """
    weights, norm = layer.weights, layer.weights.middle_norm
    whole = layer.attention_output[0] + layer.input[0]
    deviation = norm.deviation(whole)
    stream = _Mixture(_terms(layer), _shares(layer.attention[0]))
    normed = _Mixture(norm.centred(stream.terms), stream.shares / deviation)
    before = [_before_feed_forward(each) for each in (stream.without_residual, stream, normed)]
    bias = norm.centred(weights.output_bias) / deviation + norm.shift
    inputs = norm.centred(whole) / deviation + norm.shift
    forward = _FeedForward(layer, inputs, bias, bias_reading)
    around = (stream, before[1]) if weights.norm_first else (normed, before[2])
    after = _feed_forward_scopes(
        forward, normed, around, budget=budget, dtype=dtype or stream.terms.dtype
    )
    scopes = [_of_weights(layer.attention[0].mean(dim=0)), *before, *after]
    beside = weights.output_bias if weights.norm_first else bias
    sent = before[0].sums + after[0].sums if weights.norm_first else scopes[-1].sums
    errors = layer_errors(layer, sent, forward.bias_of_output(beside), dtype)
    return LayerMixing(
        maps=torch.stack([each.map for each in scopes]).cpu(),
        ratios=torch.stack([each.ratio() for each in scopes]).cpu(),
        errors=errors.cpu(),
    )


def attention_mixing(layer: LayerTrace) -> Float[Tensor, "query key"]:
    """‖F_i(x_j)‖ of attention with its residual, as the residual stream holds it after attention.

    The same map as that of `layer_mixing`, after the normalisation of a post-norm layer and before
    that of a pre-norm one, without a hidden vector for any pair.

    Args:
        layer: a trace of a single sequence without padding.

    Source:
        kobayashi-2021, section 3.
    """
    norm = layer.weights.middle_norm
    stream = _Mixture(_terms(layer), _shares(layer.attention[0]))
    if layer.weights.norm_first:
        return _norms(stream).cpu()
    deviation = norm.deviation(layer.attention_output[0] + layer.input[0])
    return _norms(_Mixture(norm.centred(stream.terms), stream.shares / deviation)).cpu()


@dataclass(frozen=True)
class _Mixture:
    """Vectors F_i(x_j) = Σ_t shares[j, i, t] · terms[j, t], not yet multiplied out."""

    terms: Float[Tensor, "key term width"]
    shares: Float[Tensor, "key query term"]

    @property
    def without_residual(self) -> "_Mixture":
        """The same without the last term, which is the token itself."""
        return _Mixture(self.terms[:, :-1], self.shares[..., :-1])


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


def _norms(mixture: _Mixture) -> Float[Tensor, "query key"]:
    """‖F_i(x_j)‖² = Σ_tu shares_t shares_u ⟨term_t, term_u⟩: no vector per pair is needed."""
    products = mixture.terms @ mixture.terms.mT
    squares = ((mixture.shares @ products) * mixture.shares).sum(dim=-1)
    return squares.clamp_min(0).sqrt().T


def _before_feed_forward(mixture: _Mixture) -> _Scope:
    terms, by_query = mixture.terms, mixture.shares.transpose(0, 1)
    sums = by_query.flatten(1) @ terms.flatten(0, 1)
    own = (by_query.diagonal().T.unsqueeze(1) @ terms).squeeze(1)
    return _Scope(_norms(mixture), sums, own)


class _FeedForward:
    """What the second half of a layer does to any part of its input, given the query."""

    def __init__(
        self,
        layer: LayerTrace,
        inputs: Float[Tensor, "query width"],
        bias: Float[Tensor, "query width"],
        reading: str,
    ):
        weights = layer.weights.feed_forward
        self.layer = layer
        hidden = inputs @ weights.input_weight + weights.input_bias
        self.weights = weights
        silent = bias @ weights.input_weight + weights.input_bias
        self.gate, self.rest = shared_out(hidden, silent, weights.activation, reading=reading)
        self.norm = None if layer.weights.norm_first else layer.weights.feed_forward_norm
        """The normalisation that ends a post-norm layer."""
        if self.norm:
            active = activation_gate(hidden, weights.activation) * hidden
            passed = active @ weights.output_weight + weights.output_bias
            self.deviation = self.norm.deviation(passed + inputs)

    def hidden_terms(
        self, residuals: Float[Tensor, "key width"]
    ) -> Float[Tensor, "key term hidden"]:
        """Every term in the hidden layer; heads take the short way, from their values."""
        heads = (self.layer.values[0] @ self.layer.weights.hidden_weight).transpose(0, 1)
        return torch.cat([heads, (residuals @ self.weights.input_weight).unsqueeze(1)], dim=1)

    def ended(self, parts: Float[Tensor, "*any query width"]) -> Float[Tensor, "*any query width"]:
        """What leaves the layer of what has come through the last residual."""
        return self.norm.centred(parts) / self.deviation if self.norm else parts

    def bias_of_output(self, beside: Float[Tensor, "*any width"]) -> Float[Tensor, "query width"]:
        """What the layer adds that no token sent.

        Args:
            beside: what of it goes around the network.
        """
        passed = self.rest @ self.weights.output_weight + self.weights.output_bias
        return self.ended(passed + beside) + (self.norm.shift if self.norm else 0)


def _feed_forward_scopes(
    forward: _FeedForward,
    mixture: _Mixture,
    around: tuple[_Mixture, _Scope],
    *,
    budget: int,
    dtype: torch.dtype,
) -> list[_Scope]:
    """Through the network, with the residual around it, and through a last normalisation if any.

    These need a hidden vector per pair. They are made for a few keys at a time, and of every vector
    only its norm, its part in the sum and the query's own are kept.
    """
    terms, shares = mixture.terms, mixture.shares
    residual, beside = around
    n_tokens, width = len(terms), terms.shape[-1]
    hidden_terms = forward.hidden_terms(terms[:, -1]).to(dtype)
    hidden_shares = shares.to(dtype)
    output_weight, gate = forward.weights.output_weight.to(dtype), forward.gate.to(dtype)
    n_keys = min(n_tokens, max(1, budget // (gate.numel() * gate.element_size())))
    hidden = gate.new_empty(n_keys, *gate.shape)  # filled again and again: fresh memory is slow
    maps = terms.new_empty(3 if forward.norm else 2, n_tokens, n_tokens)
    sums, own = terms.new_zeros(2, n_tokens, width)
    for start in range(0, n_tokens, n_keys):
        keys = slice(start, min(start + n_keys, n_tokens))
        part = hidden[: keys.stop - start]
        torch.bmm(hidden_shares[keys], hidden_terms[keys], out=part)
        parts = (part.mul_(gate) @ output_weight).to(terms.dtype)
        sums += parts.sum(dim=0)
        place = torch.arange(len(parts), device=parts.device)
        own[keys] = parts[place, start + place]
        maps[0, keys] = parts.norm(dim=-1)
        parts.baddbmm_(residual.shares[keys], residual.terms[keys])
        maps[1, keys] = parts.norm(dim=-1)
        if forward.norm:
            maps[2, keys] = forward.norm.centred(parts).norm(dim=-1) / forward.deviation.T
    vectors = [(sums, own), (sums + beside.sums, own + beside.own)]
    if forward.norm:
        vectors.append((forward.ended(vectors[1][0]), forward.ended(vectors[1][1])))
    return [_Scope(map.T, *each) for map, each in zip(maps, vectors, strict=True)]
