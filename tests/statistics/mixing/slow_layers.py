"""kobayashi-2021 and kobayashi-2024: layers with every vector of every pair written out.

A part of a vector goes through normalisations and a network with the rest held fixed. The
activation is shared out by Integrated Gradients: numerically with `steps`, else in closed form from
the activation itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from analysis.measures.mixing.activation_gate import Activation
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights, NoNorm, Norm, RootMeanSquareWeights
from analysis.models.router import Router
from analysis.models.trace import LayerTrace

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
            _mean_slope(activation, inputs, steps) if steps else activation(inputs) / inputs
        )
    else:
        gate = whole @ weights.gate_weight + weights.gate_bias
        own_gate = part @ weights.gate_weight + (weights.gate_bias if is_bias else 0)
        hidden = torch.zeros_like(own_inputs)
        for place, share in zip(PLACES + 0.5, SHARES, strict=True):
            slope, value = _slope(activation, place * gate), place * inputs
            own_value = own_inputs
            if (other := OTHER_SIDES.get(weights.activation)) is not None:
                own_value, value = _slope(other, value) * own_inputs, other(value)
            hidden += share * (slope * value * own_gate + activation(place * gate) * own_value)
    hidden = _given_to_experts(weights, hidden, whole)
    return hidden @ weights.output_weight + (_output_bias(weights, whole) if is_bias else 0)


def _output_bias(weights: FeedForwardWeights, inputs: Tensor) -> Tensor:
    """The bias behind the network, and those of experts by the router's shares."""
    if weights.router is None or weights.expert_bias is None:
        return weights.output_bias
    tokens = inputs.reshape(-1, inputs.shape[-1])
    shares = torch.stack([_shares_of_experts(weights.router, token) for token in tokens])
    of_experts = (shares @ weights.expert_bias).reshape(inputs.shape)
    return weights.output_bias + of_experts


def _given_to_experts(weights: FeedForwardWeights, hidden: Tensor, inputs: Tensor) -> Tensor:
    """Hidden layers of all experts, weighted by the router for each token."""
    router = weights.router
    if router is None:
        return hidden
    tokens = inputs.reshape(-1, inputs.shape[-1])
    shares = torch.stack([_shares_of_experts(router, token) for token in tokens])
    shares = shares.reshape(*inputs.shape[:-1], -1, 1)
    by_expert = hidden.reshape(*hidden.shape[:-1], shares.shape[-2], -1)
    return (by_expert * shares).reshape(hidden.shape)


def _shares_of_experts(router: Router, token: Tensor) -> Tensor:
    logits = torch.stack([token @ column for column in router.module.weight])
    logits = logits + getattr(router.module, "bias", 0)
    scores = [float(logit.exp()) for logit in logits]
    likely = [score / sum(scores) for score in scores]
    used = sorted(range(len(likely)), key=lambda expert: -likely[expert])[: router.module.top_k]
    total = (
        sum(likely[expert] for expert in used)
        if getattr(router.module, "norm_topk_prob", True)
        else 1.0
    )
    shares = [likely[expert] / total if expert in used else 0.0 for expert in range(len(likely))]
    return token.new_tensor(shares)


def _slope(activation: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    point = at.detach().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(activation(point).sum(), point)
    return gradient


def _mean_slope(activation: Callable[[Tensor], Tensor], hidden: Tensor, steps: int) -> Tensor:
    """∫ activation'(t h) dt from 0 to 1 by the midpoint rule."""
    places = [(step + 0.5) / steps for step in range(steps)]
    total = sum(_slope(activation, hidden * place) for place in places)
    return torch.as_tensor(total) / steps


@dataclass(frozen=True)
class Parts:
    """Vectors by query, key and coordinate after every module, and the bias term beside them."""

    scopes: dict[str, Tensor]
    biases: dict[str, Tensor]


def layer_parts(layer: LayerTrace, steps: int | None = None) -> Parts:
    """Every part of one sequence's layer at every scope; f is made anew from the layer's input."""
    weights, inputs, attention = layer.weights, layer.input[0], layer.attention[0]
    norms = list(weights.norms)
    read = inputs
    if weights.order.attention[0] == "ln":
        norm = norms.pop(0)
        read = normalised(norm, inputs, inputs, is_bias=True)
    if (latent := weights.value_latent) is not None:
        made = read @ latent.weight + latent.bias
        read = normalised(latent.norm, made, made, is_bias=True)
    values = torch.einsum("jd,hdk->hjk", read, weights.value_weight) + weights.value_bias[:, None]
    scaled = slow_gates(layer)[:, :, None] * values[:, None]
    transformed = torch.einsum("hijk,hkd->hijd", scaled, weights.output_weight)
    itself = torch.eye(len(inputs), dtype=inputs.dtype, device=inputs.device)
    tokens = itself[:, :, None] * inputs[None, :, :]
    nothing = torch.zeros_like(inputs)
    walk = _Walk("ln_attn" if weights.order.attention[0] == "ln" else "attn")
    walk.now = (
        torch.einsum("hij,hijd->ijd", attention, transformed),
        weights.output_bias.expand(inputs.shape),
    )
    walk.keep()
    if weights.order.is_parallel:
        forward, norm = weights.feed_forward, norms.pop(0)
        whole = normalised(norm, inputs, inputs, is_bias=True)
        normed = normalised(norm, inputs, inputs), normalised(norm, nothing, inputs, is_bias=True)
        output = network_part(forward, normed[0], whole, steps=steps)
        bias = network_part(forward, normed[1], whole, is_bias=True, steps=steps)
        walk.add("ff", itself[:, :, None] * output[None], bias)
        walk.add("res", tokens, nothing)
        return Parts(walk.scopes, walk.biases)
    entering = tokens, nothing
    for step in weights.order.attention[weights.order.attention.index("attn") + 1 :]:
        if step == "res":
            walk.add("res", *entering)
        else:
            walk.normalise(norms.pop(0))
    entering = walk.now
    for step in weights.order.network_block:
        if step == "ff":
            walk.feed_forward(layer, steps)
        elif step == "res":
            walk.add("res", *entering)
        else:
            walk.normalise(norms.pop(0))
    return Parts(walk.scopes, walk.biases)


def slow_gates(layer: LayerTrace) -> Tensor:
    """Factors by which every query scales the values of a head; 1 without a gate."""
    gate, read = layer.weights.gate, layer.attention_input[0]
    if gate is None:
        return read.new_ones(layer.attention.shape[1], len(read), 1)
    assert gate.activation == "sigmoid"
    return torch.stack(
        [1 / (1 + (-(read @ w + b)).exp()) for w, b in zip(gate.weight, gate.bias, strict=True)]
    )


class _Walk:
    """The parts of every query and the bias beside them, and what they were after every step."""

    now: tuple[Tensor, Tensor]

    def __init__(self, name: str):
        self.name, self.scopes, self.biases = name, {}, {}

    def keep(self, step: str = "") -> None:
        self.name = f"{self.name}_{step}" if step else self.name
        self.scopes[self.name], self.biases[self.name] = self.now

    @property
    def whole(self) -> Tensor:
        return self.now[0].sum(dim=1) + self.now[1]

    def add(self, step: str, parts: Tensor, bias: Tensor) -> None:
        self.now = self.now[0] + parts, self.now[1] + bias
        self.keep(step)

    def normalise(self, norm: Norm) -> None:
        parts, bias = self.now
        normed = normalised(norm, parts, self.whole[:, None].expand(parts.shape))
        self.now = normed, normalised(norm, bias, self.whole, is_bias=True)
        self.keep("ln")

    def feed_forward(self, layer: LayerTrace, steps: int | None) -> None:
        forward, (parts, bias), whole = layer.weights.feed_forward, self.now, self.whole
        outputs = network_part(forward, parts, whole[:, None], steps=steps)
        self.now = outputs, network_part(forward, bias, whole, is_bias=True, steps=steps)
        self.keep("ff")


def norms(layer: LayerTrace, steps: int | None = None) -> dict[str, Tensor]:
    """Norms by query and key at every scope; of weights, their mean over heads."""
    parts = layer_parts(layer, steps).scopes
    weights = {"attn_w": layer.attention[0].mean(dim=0)}
    return weights | {scope: vectors.norm(dim=-1) for scope, vectors in parts.items()}


def mixing_ratio(vectors: Tensor) -> Tensor:
    """‖Σ_{j≠i}‖ / (‖Σ_{j≠i}‖ + ‖j=i‖) of every query, one after the other."""
    ratios = []
    for query, row in enumerate(vectors):
        others = sum(vector for key, vector in enumerate(row) if key != query)
        context = torch.linalg.vector_norm(torch.as_tensor(others)).item()
        ratios.append(context / (context + torch.linalg.vector_norm(row[query]).item()))
    return torch.tensor(ratios, dtype=vectors.dtype)
