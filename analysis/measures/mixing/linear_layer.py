"""A layer given its forward pass: every step after attention as a linear map and a bias."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import activation_gate, active
from analysis.measures.mixing.gate_share import gated_shares, product
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import Norm, normed
from analysis.models.trace import LayerTrace

RESIDUAL: Literal["res"] = "res"
"""The step that adds the block's input."""


@dataclass(frozen=True)
class LinearNorm:
    """A normalisation with its deviations fixed to those of the whole vector of each query."""

    norm: Norm
    deviation: Float[Tensor, "query one"]

    def linear(
        self, parts: Float[Tensor, "*any query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "*any query width"]:
        """Apply the normalisation to a summand of its input; the shift belongs to the bias."""
        sent = self.norm.linear(parts) / self.deviation
        return sent + self.norm.shift if is_bias else sent

    def of(self, queries: slice) -> "LinearNorm":
        """Return the normalisation restricted to some queries."""
        return LinearNorm(self.norm, self.deviation[queries])


@dataclass(frozen=True)
class LinearNetwork:
    """A feed-forward network as a linear map, its gates fixed to those of the forward pass.

    `hidden` holds the input of the hidden layer by path, before the activation. `factors` has one
    entry for each path: the summands of all paths, each times its factor, add up to the summand
    that is projected back. `rest` is the part of the hidden layer due to biases only, before that
    projection, and `output_bias` what is added behind it.
    """

    weights: FeedForwardWeights
    hidden: tuple[Float[Tensor, "query hidden"], ...]
    factors: tuple[Float[Tensor, "query hidden"], ...]
    rest: Float[Tensor, "query hidden"]
    output_bias: Float[Tensor, "query width"] | Float[Tensor, " width"]

    def linear(
        self, parts: Float[Tensor, "*any query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "*any query width"]:
        """Apply the network to a summand of its input; its own biases belong to the bias."""
        if len(self.rest) == 1 < len(self.factors) and not is_bias:
            hidden = parts @ self._joined
        else:
            first, *others = (
                parts @ weight + bias if is_bias else parts @ weight
                for weight, bias in self.weights.paths
            )
            hidden = first.mul_(self.factors[0])
            for of_path, factor in zip(others, self.factors[1:], strict=True):
                hidden.addcmul_(of_path, factor)
        sent = hidden @ self.weights.output_weight
        return sent + self.output_bias if is_bias else sent

    @property
    def _joined(self) -> Float[Tensor, "width hidden"]:
        """Input weights of all paths times their factors, for one query: a product, not several."""
        (first, _), *others = self.weights.paths
        joined = first * self.factors[0]
        for (weight, _), factor in zip(others, self.factors[1:], strict=True):
            joined.addcmul_(weight, factor)
        return joined

    def of(self, queries: slice) -> "LinearNetwork":
        """Return the network restricted to some queries."""
        hidden, factors = (
            tuple(of_path[queries] for of_path in paths) for paths in (self.hidden, self.factors)
        )
        bias = self.output_bias if self.output_bias.dim() == 1 else self.output_bias[queries]
        return LinearNetwork(self.weights, hidden, factors, self.rest[queries], bias)

    def output(self, read: Float[Tensor, "query width"]) -> Float[Tensor, "query width"]:
        """Network output for its full input."""
        routed = self.weights.routed(hidden_layer(self.weights, self.hidden), read)
        return routed @ self.weights.output_weight + self.output_bias

    @property
    def bias(self) -> Float[Tensor, "query width"]:
        """Network output due to biases only."""
        return _product(self.rest, self.weights.output_weight) + self.output_bias


def hidden_layer(
    weights: FeedForwardWeights, made: Sequence[Float[Tensor, "*any hidden"]]
) -> Float[Tensor, "*any hidden"]:
    """Hidden layer from the inputs of its paths, before any router.

    Source:
        kobayashi-2024, section 4.
    """
    if len(made) == 1:
        return active(made[0], weights.activation)
    gate, value = made
    return product(gate, value, weights.activation)


def network_output(
    weights: FeedForwardWeights, read: Float[Tensor, "*any width"]
) -> Float[Tensor, "*any width"]:
    """Output of a feed-forward network.

    Source:
        kobayashi-2024, section 4.
    """
    made = [read @ weight + bias for weight, bias in weights.paths]
    return weights.routed(hidden_layer(weights, made), read) @ weights.output_weight + (
        weights.bias_of(read)
    )


Step = LinearNorm | Literal["res"]


@dataclass(frozen=True)
class LinearLayer:
    """Steps of a layer before and after attention, in order, each as a linear map.

    In a parallel layer `network` stands beside attention and reads the layer's input.
    """

    read: tuple[LinearNorm, ...]
    after_attention: tuple[Step, ...]
    to_network: tuple[LinearNorm, ...]
    network: LinearNetwork
    after_network: tuple[Step, ...]
    bias: Float[Tensor, "query width"]
    """Part of the layer's output that is due to biases, not to a token of its input."""

    def of(self, queries: slice) -> "LinearLayer":
        """Return the layer restricted to some queries."""
        return LinearLayer(
            tuple(norm.of(queries) for norm in self.read),
            tuple(_restricted(step, queries) for step in self.after_attention),
            tuple(norm.of(queries) for norm in self.to_network),
            self.network.of(queries),
            tuple(_restricted(step, queries) for step in self.after_network),
            self.bias[queries],
        )


def _restricted(step: Step, queries: slice) -> Step:
    return step.of(queries) if isinstance(step, LinearNorm) else step


def linear_layer(layer: LayerTrace) -> LinearLayer:
    """Linearise the steps of one sequence's layer around the vectors of its forward pass.

    Args:
        layer: a trace of a single sequence without padding.

    Source:
        kobayashi-2021, section 3, and kobayashi-2024, section 4.

    Differs:
        The papers' layers are post-norm; the same steps in other orders are ours, and so are gates.
    """
    weights, order, stream = layer.weights, layer.weights.order, layer.input[0]
    norms = weights.norms_by_stage
    attention = _Flow(layer.attention_output[0], weights.output_bias.expand_as(stream))
    entering = _Flow(stream, torch.zeros_like(stream))
    read, _ = entering.through(order.read, norms[0])
    after_attention, attention = attention.through(order.after_attention, norms[1], entering)
    source = entering if order.is_parallel else attention
    to_network, reading = source.through(order.to_network, norms[2])
    network = _network(weights.feed_forward, reading)
    passed = _Flow(network.output(reading.whole), network.bias)
    if order.is_parallel:
        passed = passed + attention
    after_network, passed = passed.through(order.after_network, norms[3], source)
    return LinearLayer(read, after_attention, to_network, network, after_network, passed.bias)


@dataclass(frozen=True)
class _Flow:
    """Whole vectors between two steps of a layer, and the part of them due to biases."""

    whole: Float[Tensor, "query width"]
    bias: Float[Tensor, "query width"]

    def __add__(self, other: "_Flow") -> "_Flow":
        return _Flow(self.whole + other.whole, self.bias + other.bias)

    def through(
        self, names: tuple[str, ...], norms: tuple[Norm, ...], entering: "_Flow | None" = None
    ) -> tuple[tuple, "_Flow"]:
        """Return the steps of a stage, and the vectors after the last of them."""
        flow, remaining, steps = self, iter(norms), []
        for name in names:
            if name == RESIDUAL and entering is not None:
                steps.append(RESIDUAL)
                flow = flow + entering
            else:
                norm = next(remaining)
                step = LinearNorm(norm, norm.deviation(flow.whole))
                steps.append(step)
                flow = _Flow(normed(norm, flow.whole), step.linear(flow.bias, is_bias=True))
        return tuple(steps), flow


def _hidden(weights: FeedForwardWeights, vectors: Tensor) -> list[Tensor]:
    return [_product(vectors, weight) + bias for weight, bias in weights.paths]


def _product(vectors: Tensor, weight: Tensor) -> Tensor:
    """Return `vectors @ weight`; zeros at once if all vectors are 0, as in models without
    biases."""
    if vectors.any():
        return vectors @ weight
    return vectors.new_zeros(*vectors.shape[:-1], weight.shape[-1])


def _network(weights: FeedForwardWeights, reading: _Flow) -> LinearNetwork:
    hidden, silent = _hidden(weights, reading.whole), _hidden(weights, reading.bias)
    activation = weights.activation
    if len(hidden) == 1:
        factors = (activation_gate(hidden[0], activation),)
    else:
        gate, value = hidden
        factors = gated_shares(gate, value, activation)
    of_biases = [factor * part for factor, part in zip(factors, silent, strict=True)]
    rest = torch.stack(of_biases).sum(0)
    *factors, rest = (weights.routed(values, reading.whole) for values in (*factors, rest))
    output_bias = weights.bias_of(reading.whole)
    return LinearNetwork(weights, tuple(hidden), tuple(factors), rest, output_bias)


def through(
    steps: Iterable[Step],
    parts: Float[Tensor, "*any query width"],
    residual: Float[Tensor, "*any query width"],
    *,
    is_bias: bool = False,
) -> Float[Tensor, "*any query width"]:
    """Apply some steps of a layer to a summand of the whole vector.

    Args:
        residual: the same summand at the block's input.
        is_bias: True if the summand is the one due to biases.

    Source:
        kobayashi-2024, section 4.
    """
    for step in steps:
        if isinstance(step, LinearNorm):
            parts = step.linear(parts, is_bias=is_bias)
        else:
            parts = parts + residual
    return parts
