"""kobayashi-2024: a whole layer with every vector of every pair written out, query × key × width.

The activation is shared out by Integrated Gradients: numerically with `steps`, else in closed form
from the activation itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from analysis.models.trace import LayerNormWeights, LayerTrace

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_tanh": lambda hidden: functional.gelu(hidden, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True)
class Parts:
    """Vectors by query, key and coordinate after every module, and the bias term beside them."""

    scopes: dict[str, Tensor]
    biases: dict[str, Tensor]


def layer_parts(layer: LayerTrace, steps: int | None = None) -> Parts:
    """Every part of one sequence's layer at every scope; f is made anew from the layer's input."""
    weights = layer.weights
    inputs, attention = layer.input[0], layer.attention[0]
    values = _values(layer)
    transformed = torch.einsum("hjk,hkd->hjd", values, weights.output_weight)
    attended = torch.einsum("hij,hjd->ijd", attention, transformed)
    itself = torch.eye(len(inputs), dtype=inputs.dtype, device=inputs.device)
    mixed = attended + itself[:, :, None] * inputs[None, :, :]
    bias = weights.output_bias.expand(inputs.shape)
    if weights.norm_first:
        scopes = {"ln_attn": attended, "ln_attn_res": mixed}
        biases = {"ln_attn": bias, "ln_attn_res": bias}
        _normalise(weights.feed_forward_norm, scopes, biases, "ln_attn_res", "ln_attn_res_ln")
        _feed_forward(layer, scopes, biases, steps)
        for kind in (scopes, biases):
            kind["ln_attn_res_ln_ff_res"] = kind["ln_attn_res_ln_ff"] + kind["ln_attn_res"]
        return Parts(scopes, biases)
    scopes = {"attn": attended, "attn_res": mixed}
    biases = {"attn": bias, "attn_res": bias}
    _normalise(weights.attention_norm, scopes, biases, "attn_res", "attn_res_ln")
    _feed_forward(layer, scopes, biases, steps)
    for kind in (scopes, biases):
        kind["attn_res_ln_ff_res"] = kind["attn_res_ln_ff"] + kind["attn_res_ln"]
    _normalise(
        weights.feed_forward_norm, scopes, biases, "attn_res_ln_ff_res", "attn_res_ln_ff_res_ln"
    )
    return Parts(scopes, biases)


def _values(layer: LayerTrace) -> Tensor:
    """Every head's values of every token, from the stream that enters the layer."""
    weights, read = layer.weights, layer.input[0]
    if weights.norm_first:
        norm = weights.attention_norm
        deviation = (read.var(dim=-1, unbiased=False) + norm.epsilon).sqrt()
        read = (read - read.mean(dim=-1, keepdim=True)) / deviation[:, None] * norm.scale
        read = read + norm.shift
    return torch.einsum("jd,hdk->hjk", read, weights.value_weight) + weights.value_bias[:, None]


def norms(layer: LayerTrace, steps: int | None = None) -> dict[str, Tensor]:
    """Norms by query and key at every scope; of weights, their mean over heads."""
    parts = layer_parts(layer, steps).scopes
    weights = {"attn_w": layer.attention[0].mean(dim=0)}
    return weights | {scope: vectors.norm(dim=-1) for scope, vectors in parts.items()}


def mixing_ratio(vectors: Tensor) -> Tensor:
    """‖Σ_{j≠i}‖ / (‖Σ_{j≠i}‖ + ‖j=i‖) of every query, one after the other."""
    ratios = []
    for query, each in enumerate(vectors):
        others = sum(vector for key, vector in enumerate(each) if key != query)
        context = torch.linalg.vector_norm(torch.as_tensor(others)).item()
        ratios.append(context / (context + torch.linalg.vector_norm(each[query]).item()))
    return torch.tensor(ratios, dtype=vectors.dtype)


def _normalise(
    norm: LayerNormWeights,
    scopes: dict[str, Tensor],
    biases: dict[str, Tensor],
    before: str,
    after: str,
) -> None:
    whole = scopes[before].sum(dim=1) + biases[before]
    deviation = (whole.var(dim=-1, unbiased=False) + norm.epsilon).sqrt()
    mean = scopes[before].mean(dim=-1, keepdim=True)
    scopes[after] = (scopes[before] - mean) / deviation[:, None, None] * norm.scale
    mean = biases[before].mean(dim=-1, keepdim=True)
    biases[after] = (biases[before] - mean) / deviation[:, None] * norm.scale + norm.shift


def _feed_forward(
    layer: LayerTrace, scopes: dict[str, Tensor], biases: dict[str, Tensor], steps: int | None
) -> None:
    weights = layer.weights.feed_forward
    before = "ln_attn_res_ln" if layer.weights.norm_first else "attn_res_ln"
    shares = scopes[before] @ weights.input_weight
    bias = biases[before] @ weights.input_weight + weights.input_bias
    hidden = shares.sum(dim=1) + bias
    activation = ACTIVATIONS[weights.activation]
    gate = _integrated(activation, hidden, steps) if steps else activation(hidden) / hidden
    scopes[f"{before}_ff"] = (gate[:, None, :] * shares) @ weights.output_weight
    biases[f"{before}_ff"] = (gate * bias) @ weights.output_weight + weights.output_bias


def _integrated(activation: Callable[[Tensor], Tensor], hidden: Tensor, steps: int) -> Tensor:
    """∫ activation'(t h) dt from 0 to 1 by the midpoint rule, the gradient by autograd."""
    total = torch.zeros_like(hidden)
    for step in range(steps):
        point = (hidden * (step + 0.5) / steps).detach().requires_grad_()
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(activation(point).sum(), point)
        total += gradient
    return total / steps
