"""kobayashi-2021 and kobayashi-2024: a part of a vector through normalisations and a network, with
the rest held fixed."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights, NoNorm, Norm, RootMeanSquareWeights
from analysis.models.router import Router

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda hidden: functional.gelu(hidden, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
    "tanh": torch.tanh,
}
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
            slope = _slope(activation, place * gate)
            hidden += share * (
                slope * place * inputs * own_gate + activation(place * gate) * own_inputs
            )
    hidden = _given_to_experts(weights, hidden, whole)
    return hidden @ weights.output_weight + (weights.output_bias if is_bias else 0)


def network_output(weights: FeedForwardWeights, inputs: Tensor) -> Tensor:
    """Network output for its full input."""
    hidden = inputs @ weights.input_weight + weights.input_bias
    activation = ACTIVATIONS[weights.activation]
    if weights.gate_weight is None or weights.gate_bias is None:
        hidden = activation(hidden)
    else:
        hidden = hidden * activation(inputs @ weights.gate_weight + weights.gate_bias)
    return _given_to_experts(weights, hidden, inputs) @ weights.output_weight + weights.output_bias


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
    scores = [float((token @ column).exp()) for column in router.weight.T]
    likely = [score / sum(scores) for score in scores]
    used = sorted(range(len(likely)), key=lambda expert: -likely[expert])[: router.n_used]
    total = sum(likely[expert] for expert in used) if router.is_normalised else 1.0
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
