"""kobayashi-2021 and kobayashi-2024: layers with every vector of every pair written out.

A part of a vector goes through normalisations and a network with the rest held fixed. The
activation is shared out by Integrated Gradients: numerically with `steps`, else in closed form from
the activation itself. Before that, layers of tiny models as tests read and change them."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from analysis.measures.mixing.activation_gate import Activation
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights, NoNorm, Norm, RootMeanSquareWeights
from analysis.models.trace import LayerTrace, in_dtype

_DECODERS = ("gpt2", "llama", "gemma2", "olmo2", "gpt_neox", "youtu", "afmoe")
ORDERS = ("bert", *_DECODERS, "dinov2_with_registers")
"""One family of every order of layers, with every kind of network, normalisation and values."""
every_order = pytest.mark.parametrize("family", ORDERS, indirect=True, scope="session")
one_post_norm = pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")


def with_activation(layer: LayerTrace, name: str) -> LayerTrace:
    forward = dataclasses.replace(layer.weights.feed_forward, activation=name)
    return dataclasses.replace(
        layer, weights=dataclasses.replace(layer.weights, feed_forward=forward)
    )


def in_float32(layer: LayerTrace) -> LayerTrace:
    return LayerTrace(**{k: in_dtype(v, torch.float32) for k, v in vars(layer).items()})


def misread(layer: LayerTrace, fault: str) -> LayerTrace:
    """The layer with one of its parameters, named by its path in the weights, turned round.

    Skips where the family has no such parameter.
    """

    def turned(owner: Any, path: list[str]) -> Any:
        if not path:
            if not owner.any():
                pytest.skip("the family has none")
            return owner.flip(0)
        name, *deeper = path
        if isinstance(owner, tuple):
            place = int(name) % len(owner)
            return (*owner[:place], turned(owner[place], deeper), *owner[place + 1 :])
        changed = turned(getattr(owner, name), deeper)  # which skips what is no field but zeros
        return dataclasses.replace(owner, **{name: changed})

    return dataclasses.replace(layer, weights=turned(layer.weights, fault.split(".")))


ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda hidden: functional.gelu(hidden, approximate="tanh"),
    "quick_gelu": lambda hidden: hidden * torch.sigmoid(1.702 * hidden),
    "quick_gelu_clamped": lambda hidden: (
        hidden.clamp(max=7) * torch.sigmoid(1.702 * hidden.clamp(max=7))
    ),
    "relu": functional.relu,
    "relu_squared": lambda hidden: functional.relu(hidden).square(),
    "silu": functional.silu,
    "tanh": torch.tanh,
}
OTHER_SIDES: dict[Activation, Callable[[Tensor], Tensor]] = {
    "quick_gelu_clamped": lambda value: value.clamp(-6, 8)
}
"""Factors of activations, 1 being part of the bias, where the factor is not u itself."""
PLACES, SHARES = (numbers / 2 for numbers in np.polynomial.legendre.leggauss(100))


def normalised(norm: Norm, part: Tensor, whole: Tensor, *, is_bias: bool = False) -> Tensor:
    """Part of one token's vector after a normalisation of the whole."""
    if isinstance(norm, NoNorm):
        return part
    if isinstance(norm, RootMeanSquareWeights):
        size = (whole.pow(2).sum(dim=-1, keepdim=True) / whole.shape[-1] + norm.epsilon).sqrt()
        return part / size * norm.scale
    assert isinstance(norm, LayerNormWeights)
    centre = whole.sum(dim=-1, keepdim=True) / whole.shape[-1]
    variance = (whole - centre).pow(2).sum(dim=-1, keepdim=True) / whole.shape[-1]
    centred = part - part.sum(dim=-1, keepdim=True) / part.shape[-1]
    scaled = centred / (variance + norm.epsilon).sqrt() * norm.scale
    return scaled + norm.shift if is_bias else scaled


def network_part(
    weights: FeedForwardWeights,
    part: Tensor,
    whole: Tensor,
    *,
    is_bias: bool = False,
    steps: int | None = None,
) -> Tensor:
    """Network output for a part of its input.

    Args:
        steps: of a sum over the path; else the network's own activation, or a fine quadrature of
            the path where it is gated.
    """
    activation = ACTIVATIONS[weights.activation]
    inputs = whole @ weights.input_weight + weights.input_bias
    own_inputs = part @ weights.input_weight + (weights.input_bias if is_bias else 0)
    if weights.gate_weight is None or weights.gate_bias is None:
        hidden = own_inputs * (
            mean_slope(activation, inputs, steps) if steps else activation(inputs) / inputs
        )
    else:
        gate = whole @ weights.gate_weight + weights.gate_bias
        own_gate = part @ weights.gate_weight + (weights.gate_bias if is_bias else 0)
        hidden = torch.zeros_like(own_inputs)
        for place, share in zip(PLACES + 0.5, SHARES, strict=True):
            rise, value = slope(activation, place * gate), place * inputs
            own_value = own_inputs
            if (other := OTHER_SIDES.get(weights.activation)) is not None:
                own_value, value = slope(other, value) * own_inputs, other(value)
            hidden += share * (rise * value * own_gate + activation(place * gate) * own_value)
    return hidden @ weights.output_weight + (weights.output_bias if is_bias else 0)


def slope(activation: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    point = at.detach().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(activation(point).sum(), point)
    return gradient


def mean_slope(activation: Callable[[Tensor], Tensor], hidden: Tensor, steps: int) -> Tensor:
    """∫ activation'(t h) dt from 0 to 1 by the midpoint rule."""
    places = [(step + 0.5) / steps for step in range(steps)]
    total = sum(slope(activation, hidden * place) for place in places)
    return torch.as_tensor(total) / steps


@dataclass(frozen=True)
class Sum:
    """Vectors by token and token of the input, and the bias beside them: together all tokens."""

    parts: Tensor
    bias: Tensor

    @property
    def whole(self) -> Tensor:
        return self.parts.sum(dim=1) + self.bias

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(self.parts + other.parts, self.bias + other.bias)

    def normalised(self, norm: Norm) -> "Sum":
        whole = self.whole
        parts = normalised(norm, self.parts, whole[:, None].expand(self.parts.shape))
        return Sum(parts, normalised(norm, self.bias, whole, is_bias=True))

    def through_network(self, weights: FeedForwardWeights, steps: int | None) -> "Sum":
        whole = self.whole
        parts = network_part(weights, self.parts, whole[:, None], steps=steps)
        return Sum(parts, network_part(weights, self.bias, whole, is_bias=True, steps=steps))


def tokens_themselves(inputs: Tensor) -> Sum:
    """Every token as what it is made of, without a bias."""
    return Sum(torch.diag_embed(inputs.T, dim1=0, dim2=1), torch.zeros_like(inputs))


def layer_sums(
    layer: LayerTrace, before: Sum | None = None, *, steps: int | None = None
) -> dict[str, Sum]:
    """Sums of one sequence's layer at every scope.

    Without sums before the layer, what a key sends is its whole transformed vector, biases and all.
    """
    order, norms = layer.weights.order, list(layer.weights.norms)
    start = now = before or tokens_themselves(layer.input[0])
    scopes, name = dict[str, Sum](), ""
    for step in order.attention:
        if step == "attn":
            now = attended(layer, now, are_whole=before is None)
        else:
            now = now + start if step == "res" else now.normalised(norms.pop(0))
        name = f"{name}_{step}".strip("_")
        scopes[name] = now
    stream, now = now, start if order.is_parallel else now
    entering = now
    for step in order.network_block:
        if step == "ff":
            now = now.through_network(layer.weights.feed_forward, steps)
            now = now + stream if order.is_parallel else now
        else:
            now = now + entering if step == "res" else now.normalised(norms.pop(0))
        if step != "ln" or not order.is_parallel:
            name = f"{name}_{step}"
            scopes[name] = now
    return scopes


def attended(layer: LayerTrace, read: Sum, *, are_whole: bool) -> Sum:
    """Output of attention: from keys as they are made up, or from keys that are whole."""
    weights, attention = layer.weights, layer.attention[0]
    if (latent := weights.value_latent) is not None:
        made = Sum(read.parts @ latent.weight, read.bias @ latent.weight + latent.bias)
        read = made.normalised(latent.norm)
    total = Sum(torch.zeros_like(layer.input[0]), weights.output_bias)
    for head, gate in enumerate(slow_gates(layer)):
        value = weights.value_weight[head]
        values = Sum(read.parts @ value, read.bias @ value + weights.value_bias[head])
        values = tokens_themselves(values.whole) if are_whole else values
        output = gate[:, :, None] * weights.output_weight[head]
        sent = torch.einsum("ik,ksv,ivd->isd", attention[head], values.parts, output)
        bias = torch.einsum("ik,kv,ivd->id", attention[head], values.bias, output)
        total = Sum(total.parts + sent, total.bias + bias)
    return total


def slow_gates(layer: LayerTrace) -> Tensor:
    """Factors by which every query scales the values of a head; 1 without a gate."""
    gate, read = layer.weights.gate, layer.attention_input[0]
    if gate is None:
        return read.new_ones(
            layer.attention.shape[1], len(read), layer.weights.value_weight.shape[-1]
        )
    assert gate.activation == "sigmoid"
    return torch.stack(
        [1 / (1 + (-(read @ w + b)).exp()) for w, b in zip(gate.weight, gate.bias, strict=True)]
    )


def norms(layer: LayerTrace, steps: int | None = None) -> dict[str, Tensor]:
    """Norms by query and key at every scope; of weights, their mean over heads."""
    weights = {"attn_w": layer.attention[0].mean(dim=0)}
    sums = layer_sums(layer, steps=steps)
    return weights | {scope: vectors.parts.norm(dim=-1) for scope, vectors in sums.items()}


def mixing_ratio(vectors: Tensor) -> Tensor:
    """‖Σ_{j≠i}‖ / (‖Σ_{j≠i}‖ + ‖j=i‖) of every query, one after the other."""
    ratios = []
    for query, row in enumerate(vectors):
        others = sum(vector for key, vector in enumerate(row) if key != query)
        context = torch.linalg.vector_norm(torch.as_tensor(others)).item()
        ratios.append(context / (context + torch.linalg.vector_norm(row[query]).item()))
    return torch.tensor(ratios, dtype=vectors.dtype)
