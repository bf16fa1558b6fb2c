"""A layer given its forward pass: every step after attention as a linear map and a bias."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.bias_reading import active, shared_out
from analysis.measures.mixing.gate_share import gated_shares
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import Norm, normed
from analysis.models.trace import LayerTrace
from analysis.scopes import BIAS_READINGS, GATE_RULES

RESIDUAL: Literal["res"] = "res"
"""The step that adds what entered the block."""


@dataclass(frozen=True)
class LinearNorm:
    """A normalisation of vectors whose deviation is that of the whole of each query."""

    norm: Norm
    deviation: Float[Tensor, "query one"]

    def linear(
        self, parts: Float[Tensor, "*any query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "*any query width"]:
        """What becomes of any part of the whole; the shift belongs to the bias."""
        sent = self.norm.linear(parts) / self.deviation
        return sent + self.norm.shift if is_bias else sent

    def of(self, queries: slice) -> "LinearNorm":
        """The same for vectors of some queries."""
        return LinearNorm(self.norm, self.deviation[queries])


@dataclass(frozen=True)
class LinearNetwork:
    """A feed-forward network that hands on every part of its hidden layer by a fixed factor.

    `hidden` is what each path brings into the hidden layer, before the activation. `factors` has
    one entry for each path: parts of all paths, each times its factor, add up to the part that is
    projected back. `rest` is what no token sent of the hidden layer, ready to be projected back.
    """

    weights: FeedForwardWeights
    hidden: tuple[Float[Tensor, "query hidden"], ...]
    factors: tuple[Float[Tensor, "query hidden"], ...]
    rest: Float[Tensor, "query hidden"]

    def linear(
        self, parts: Float[Tensor, "*any query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "*any query width"]:
        """What becomes of any part of what the network reads; its biases belong to the bias."""
        own = 1 if is_bias else 0
        paths = zip(self.factors, self.weights.paths, strict=True)
        hidden = sum(factor * (parts @ weight + own * bias) for factor, (weight, bias) in paths)
        return torch.as_tensor(hidden) @ self.weights.output_weight + own * self.weights.output_bias

    def output(self, read: Float[Tensor, "query width"]) -> Float[Tensor, "query width"]:
        """What leaves the network of the whole that it reads."""
        first, *others = self.hidden
        hidden = active(first, self.weights.activation)
        for other in others:
            hidden = hidden * other
        routed = self.weights.routed(hidden, read)
        return routed @ self.weights.output_weight + self.weights.output_bias

    @property
    def bias(self) -> Float[Tensor, "query width"]:
        """What leaves the network of what no token sent."""
        return _product(self.rest, self.weights.output_weight) + self.weights.output_bias


Step = LinearNorm | Literal["res"]


@dataclass(frozen=True)
class LinearLayer:
    """The stages of a layer, before attention and after it, in the order of its steps.

    In a parallel layer `network` stands beside attention and reads the layer's input.
    """

    read: tuple[LinearNorm, ...]
    after_attention: tuple[Step, ...]
    to_network: tuple[LinearNorm, ...]
    network: LinearNetwork
    after_network: tuple[Step, ...]
    bias: Float[Tensor, "query width"]
    """What the layer adds that no token of its input sent."""


def linear_layer(
    layer: LayerTrace,
    *,
    bias_reading: str = BIAS_READINGS[0],
    gate_rule: str = GATE_RULES[0],
) -> LinearLayer:
    """The steps of one sequence's layer, given the whole vectors that go through them.

    Args:
        layer: a trace of a single sequence without padding.
        bias_reading: one of `BIAS_READINGS`.
        gate_rule: one of `GATE_RULES`.

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
    network = _network(weights.feed_forward, reading, bias_reading, gate_rule)
    passed = _Flow(network.output(reading.whole), network.bias)
    if order.is_parallel:
        passed = passed + attention
    after_network, passed = passed.through(order.after_network, norms[3], source)
    return LinearLayer(read, after_attention, to_network, network, after_network, passed.bias)


@dataclass(frozen=True)
class _Flow:
    """Whole vectors on their way through the layer, and the part of them that no token sent."""

    whole: Float[Tensor, "query width"]
    bias: Float[Tensor, "query width"]

    def __add__(self, other: "_Flow") -> "_Flow":
        return _Flow(self.whole + other.whole, self.bias + other.bias)

    def through(
        self, names: tuple[str, ...], norms: tuple[Norm, ...], entering: "_Flow | None" = None
    ) -> tuple[tuple, "_Flow"]:
        """The steps of a stage, and what comes out of the last of them."""
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
    """`vectors @ weight`; zeros at once where all vectors are 0, as in models without biases."""
    if vectors.any():
        return vectors @ weight
    return vectors.new_zeros(*vectors.shape[:-1], weight.shape[-1])


def _network(
    weights: FeedForwardWeights, reading: _Flow, bias_reading: str, gate_rule: str
) -> LinearNetwork:
    hidden, silent = _hidden(weights, reading.whole), _hidden(weights, reading.bias)
    activation = weights.activation
    if len(hidden) == 1:
        factor, rest = shared_out(hidden[0], silent[0], activation, reading=bias_reading)
        factors = (factor,)
    else:
        factors, rest = gated_shares(
            hidden, silent, activation, reading=bias_reading, rule=gate_rule
        )
    *factors, rest = (weights.routed(values, reading.whole) for values in (*factors, rest))
    return LinearNetwork(weights, tuple(hidden), tuple(factors), rest)


def through(
    steps: Iterable[Step],
    parts: Float[Tensor, "*any query width"],
    residual: Float[Tensor, "*any query width"],
    *,
    is_bias: bool = False,
) -> Float[Tensor, "*any query width"]:
    """What becomes of any part of the whole in some steps.

    Args:
        residual: what of the same part entered the block.
        is_bias: whether the part is that which no token sent.

    Source:
        kobayashi-2024, section 4.
    """
    for step in steps:
        if isinstance(step, LinearNorm):
            parts = step.linear(parts, is_bias=is_bias)
        else:
            parts = parts + residual
    return parts
