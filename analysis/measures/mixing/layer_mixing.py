"""A whole layer as a sum over its input tokens, at every scope of its order.

Keys are taken a few at a time, so that beside the maps nothing grows with the square of a long
text.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.mixing.completeness import layer_errors
from analysis.measures.mixing.linear_layer import (
    LinearLayer,
    LinearNetwork,
    LinearNorm,
    Step,
    linear_layer,
    through,
)
from analysis.measures.mixing.mixture import PairVectors, Scope, Sent, attended
from analysis.models.trace import LayerTrace
from analysis.scopes import BUDGET

KEYS = 64
"""Approximate number of keys whose hidden terms are held at a time."""
MOST_SHARES = 2**24
"""Attention weights of all heads and queries, or coordinates of vectors, of the keys taken at a
time."""


@dataclass(frozen=True)
class LayerMixing:
    """Norms, mixing ratios and errors of one layer of one sequence.

    `maps` holds ‖F_i(x_j)‖ by scope of the layer's order (for `attn_w`: the head mean of α), 0
    where a query does not see a key. `ratios` holds the mixing ratio r_i. `errors` is the relative
    error of the sum of parts against each token's output.
    """

    maps: Float[Tensor, "scope query key"]
    ratios: Float[Tensor, "scope query"]
    errors: Float[Tensor, " query"]


def layer_mixing(
    layer: LayerTrace,
    *,
    budget: int = BUDGET,
    dtype: torch.dtype | None = None,
) -> LayerMixing:
    """Compute the norms of all parts of one sequence's layer, and check that the parts add up.

    Given the query i every module is linear: attention by its weights, a normalisation by the
    deviation of the whole vector, the network by its gates. Each head's f(x_j), and x_j itself as
    the term of a residual, is projected once per token; pairs only mix these terms. Where a layer
    begins with a normalisation f is of the normalised token, a function of x_j alone; the residual
    is of x_j itself. Steps follow in the layer's order.

    Args:
        layer: a trace of a single sequence without padding.
        budget: bytes for the hidden vectors of pairs on each path, made a few keys at a time.
        dtype: number format of the hidden vectors of pairs; that of the trace if None.

    Source:
        kobayashi-2024, section 4, and kobayashi-2021, section 3.

    Differs:
        Biases have a term of their own at every step and are given to no token. The papers' layers
        are post-norm; the same steps in other orders are ours.
    """
    given = linear_layer(layer)
    parts = (
        _scopes_of(attended(layer, keys), layer, given, budget=budget, dtype=dtype)
        for keys in _key_slices(layer)
    )
    scopes = reduce(_joined, parts)
    scopes.insert(0, _of_weights(layer.attention[0].mean(dim=0)))
    errors = layer_errors(layer, _sent(layer, scopes), given.bias, dtype)
    return LayerMixing(
        maps=torch.stack([scope.map for scope in scopes]).cpu(),
        ratios=torch.stack([scope.ratio() for scope in scopes]).cpu(),
        errors=errors.cpu(),
    )


def attention_mixing(layer: LayerTrace) -> Float[Tensor, "query key"]:
    """‖F_i(x_j)‖ of attention's block, as the residual stream holds it after attention.

    The same map as that of `layer_mixing` at the scope `attention_block`, without a hidden vector
    for any pair.

    Args:
        layer: a trace of a single sequence without padding.

    Source:
        kobayashi-2021, section 3.
    """
    given, order, tokens = linear_layer(layer), layer.weights.order, layer.input[0]
    parts = []
    for keys in _key_slices(layer):
        mixture = attended(layer, keys)
        if order.is_parallel:
            mixture = mixture.with_own(_by_itself(given, tokens))
        for step in given.after_network if order.is_parallel else given.after_attention:
            mixture = mixture.after(step, tokens)
        parts.append(mixture.norms())
    return torch.cat(parts, dim=1).cpu()


def _key_slices(layer: LayerTrace) -> Iterator[slice]:
    """Yield slices of the keys whose shares, of all queries, fit `MOST_SHARES`."""
    n_tokens = layer.attention.shape[-1]
    has_gate = layer.weights.gate is not None
    n_shares = layer.input.shape[-1] if has_gate else layer.attention.shape[1]
    size = max(1, MOST_SHARES // (n_shares * n_tokens))
    for start in range(0, n_tokens, size):
        yield slice(start, min(start + size, n_tokens))


def _scopes_of(
    mixture: Sent,
    layer: LayerTrace,
    given: LinearLayer,
    *,
    budget: int,
    dtype: torch.dtype | None,
) -> list[Scope]:
    """Every scope of vectors, for some keys."""
    tokens, scopes = layer.input[0], [mixture.scope()]

    def follow(mixture: Sent, steps: tuple[Step, ...]) -> Sent:
        for step in steps:
            mixture = mixture.after(step, tokens)
            scopes.append(mixture.scope())
        return mixture

    mixture = follow(mixture, given.after_attention)
    entering = mixture, scopes[-1]
    if layer.weights.order.is_parallel:
        mixture = mixture.with_own(_by_itself(given, tokens))
        scopes.append(mixture.scope())
        follow(mixture, given.after_network)
        return scopes
    mixture = follow(mixture, given.to_network)
    passed = _Passed(layer, given.network, mixture, dtype or tokens.dtype)
    return scopes + _network_scopes(given, passed.by_keys(budget), entering)


def _joined(before: list[Scope], following: list[Scope]) -> list[Scope]:
    """Return every scope of some keys and of those after them."""
    return [
        Scope(
            torch.cat([one.map, other.map], dim=1),
            one.sums + other.sums,
            torch.cat([one.own, other.own]),
        )
        for one, other in zip(before, following, strict=True)
    ]


def _by_itself(given: LinearLayer, tokens: Tensor) -> Float[Tensor, "query width"]:
    """Output of a network that stands parallel to attention and reads each token alone."""
    return given.network.linear(through(given.to_network, tokens, tokens))


def _of_weights(attention: Float[Tensor, "query key"]) -> Scope:
    """Weights as vectors of one coordinate, so that r_i = 1 − α_ii / Σ_j α_ij."""
    own = attention.diagonal().unsqueeze(1)
    return Scope(attention, attention.sum(dim=1, keepdim=True), own)


def _sent(layer: LayerTrace, scopes: list[Scope]) -> Float[Tensor, "query width"]:
    """Sum of all tokens' contributions to the output; without x_i if the layer adds to x_i."""
    order = layer.weights.order
    if not order.keeps_stream:
        return scopes[-1].sums
    before = (scopes[place - 1] for place, step in enumerate(order.steps) if step == "res")
    return torch.stack([scope.sums for scope in before]).sum(dim=0)


class _Passed:
    """Network output of pairs with some keys, from a hidden vector for each."""

    def __init__(
        self,
        layer: LayerTrace,
        network: LinearNetwork,
        mixture: Sent,
        dtype: torch.dtype,
    ):
        self.shares, self.dtype = mixture.shares.to(dtype), mixture.shares.dtype
        self.factors = [factor.to(dtype) for factor in network.factors]
        self.output_weight = network.weights.output_weight.to(dtype)
        self.seen = layer.weights.pairs(len(self.factors[0]))[:, mixture.positions]
        self.of_pairs = None
        if isinstance(mixture, PairVectors):
            weights = [weight for weight, _ in network.weights.paths]
            self.of_pairs = torch.stack(weights).to(dtype).unsqueeze(1)
            return
        self.own = mixture.terms[:, layer.attention.shape[1] :].transpose(0, 1)
        self.values = layer.values[0][:, mixture.positions]
        self.ways = [
            (of_heads, of_tokens)
            for of_heads, (of_tokens, _) in zip(
                layer.weights.hidden_weights, network.weights.paths, strict=True
            )
        ]
        """Weights from head values and weights from residual terms of tokens, by path."""

    def by_keys(self, budget: int) -> Iterator[tuple[slice, slice, Tensor]]:
        """Yield slices of these keys, of queries that see any of them, and the network's output.

        Returns:
            Vectors by key, query and width; all other queries receive nothing from these keys.
        """
        n_tokens, first = len(self.shares), self.factors[0]
        n_keys = min(n_tokens, max(1, budget // (first.numel() * first.element_size())))
        # filled again and again: fresh memory is slow
        totals, others = first.new_empty(2, n_keys * first.numel())
        for keys, terms in self._terms(n_keys):
            queries = range_of(self.seen[:, keys].any(dim=1))
            shares = self.shares[keys, queries]
            factors = [full[queries] for full in self.factors]
            shape = len(shares), *factors[0].shape
            total, other = (buffer[: math.prod(shape)].view(shape) for buffer in (totals, others))
            torch.bmm(shares, terms[0], out=total).mul_(factors[0])
            for of_path, factor in zip(terms[1:], factors[1:], strict=True):
                total.addcmul_(torch.bmm(shares, of_path, out=other), factor)
            yield keys, queries, (total @ self.output_weight).to(self.dtype)

    def _terms(self, n_keys: int) -> Iterator[tuple[slice, Float[Tensor, "path key term hidden"]]]:
        """Yield a slice of keys and their terms in the hidden layer, on each of its paths.

        Terms are computed for several slices at once: every product reads a whole weight.
        """
        n_tokens, n_hidden = len(self.shares), len(self.output_weight)
        if self.of_pairs is not None:
            for start in range(0, n_tokens, n_keys):
                keys = slice(start, min(start + n_keys, n_tokens))
                yield keys, self.of_pairs.expand(-1, keys.stop - start, -1, -1)
            return
        n_made, n_terms = n_keys * max(1, KEYS // n_keys), len(self.values) + len(self.own)
        made = self.values.new_empty(len(self.ways), n_terms, n_made, n_hidden)
        for start in range(0, n_tokens, n_keys):
            keys = slice(start, min(start + n_keys, n_tokens))
            place = start % n_made
            if not place:
                self._make(made, slice(start, min(start + n_made, n_tokens)))
            terms = made[:, :, place : place + keys.stop - start].transpose(1, 2)
            yield keys, terms.to(self.shares.dtype)

    def _make(self, made: Float[Tensor, "path term key hidden"], keys: slice) -> None:
        """Fill in the hidden terms of some keys."""
        values, n_heads = self.values[:, keys], len(self.values)
        for terms, (of_heads, of_tokens) in zip(
            made[:, :, : values.shape[1]], self.ways, strict=True
        ):
            torch.bmm(values, of_heads, out=terms[:n_heads])
            for term, vectors in zip(terms[n_heads:], self.own, strict=True):
                torch.mm(vectors[keys], of_tokens, out=term)


def range_of(seen: Bool[Tensor, " query"]) -> slice:
    """Return the range from the first query that sees any key to the last.

    Source:
        kobayashi-2024, section 4.
    """
    places = seen.nonzero()
    return slice(int(places[0]), int(places[-1]) + 1)


def _network_scopes(
    given: LinearLayer,
    passed: Iterator[tuple[slice, slice, Tensor]],
    entering: tuple[Sent, Scope],
) -> list[Scope]:
    """Scopes after the network and after each later step, including the block's residual.

    Keep each pair's norm and contribution to the sum, and the query's own vector.
    """
    mixture, beside = entering
    maps = beside.map.new_zeros(1 + len(given.after_network), *beside.map.T.shape)
    sums, own = torch.zeros_like(beside.sums), torch.zeros_like(beside.own)
    for keys, queries, parts in passed:
        sums[queries] += parts.sum(dim=0)
        place = torch.arange(len(parts), device=parts.device)
        own[keys] = parts[place, mixture.first + keys.start - queries.start + place]
        maps[0, keys, queries] = parts.norm(dim=-1)
        for scope, step in enumerate(given.after_network, start=1):
            if isinstance(step, LinearNorm):
                parts = step.of(queries).linear(parts)
            else:
                mixture.add_to(parts, keys, queries)
            maps[scope, keys, queries] = parts.norm(dim=-1)
    vectors = [(sums, own)]
    for step in given.after_network:
        of_keys = step.of(mixture.positions) if isinstance(step, LinearNorm) else step
        sums, own = through([step], sums, beside.sums), through([of_keys], own, beside.own)
        vectors.append((sums, own))
    return [Scope(map.T, *pair) for map, pair in zip(maps, vectors, strict=True)]
