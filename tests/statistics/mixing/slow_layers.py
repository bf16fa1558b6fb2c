"""kobayashi-2021 and kobayashi-2024: layers with every vector of every pair written out.

A part of a vector goes through normalisations and a network with the rest held fixed; how an
activation is shared out is held to a twin by `test_activation`.
"""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from analysis.measures.mixing.activation_gate import activation_gate
from analysis.measures.mixing.gate_share import gated_shares
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import LayerNormWeights, NoNorm, Norm, RootMeanSquareWeights
from analysis.models.trace import LayerTrace, in_dtype

_DECODERS = ("gpt2", "llama", "gemma2", "olmo2", "gpt_neox", "youtu", "afmoe")
ORDERS = ("bert", *_DECODERS, "dinov2_with_registers")
"""One family of every order of layers, with every kind of network, normalisation and values."""
every_order = pytest.mark.parametrize("family", ORDERS, indirect=True, scope="session")


def in_float32(layer: LayerTrace) -> LayerTrace:
    return LayerTrace(**{k: in_dtype(v, torch.float32) for k, v in vars(layer).items()})


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
    weights: FeedForwardWeights, part: Tensor, whole: Tensor, *, is_bias: bool = False
) -> Tensor:
    """Network output for a part of its input."""
    inputs = whole @ weights.input_weight + weights.input_bias
    own_inputs = part @ weights.input_weight + (weights.input_bias if is_bias else 0)
    if weights.gate_weight is None or weights.gate_bias is None:
        hidden = own_inputs * activation_gate(inputs, weights.activation)
    else:
        gate = whole @ weights.gate_weight + weights.gate_bias
        own_gate = part @ weights.gate_weight + (weights.gate_bias if is_bias else 0)
        of_gate, of_input = gated_shares(gate, inputs, weights.activation)
        hidden = of_gate * own_gate + of_input * own_inputs
    return hidden @ weights.output_weight + (weights.output_bias if is_bias else 0)


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

    def through_network(self, weights: FeedForwardWeights) -> "Sum":
        whole = self.whole
        parts = network_part(weights, self.parts.transpose(0, 1), whole).transpose(0, 1)
        return Sum(parts, network_part(weights, self.bias, whole, is_bias=True))


def tokens_themselves(inputs: Tensor) -> Sum:
    """Every token as what it is made of, without a bias."""
    return Sum(torch.diag_embed(inputs.T, dim1=0, dim2=1), torch.zeros_like(inputs))


def layer_sums(layer: LayerTrace, before: Sum | None = None) -> dict[str, Sum]:
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
            now = now.through_network(layer.weights.feed_forward)
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


def norms(layer: LayerTrace) -> dict[str, Tensor]:
    """Norms by query and key at every scope; of weights, their mean over heads."""
    weights = {"attn_w": layer.attention[0].mean(dim=0)}
    sums = layer_sums(layer)
    return weights | {scope: vectors.parts.norm(dim=-1) for scope, vectors in sums.items()}


def mixing_ratio(vectors: Tensor) -> Tensor:
    """‖Σ_{j≠i}‖ / (‖Σ_{j≠i}‖ + ‖j=i‖) of every query."""
    kept = torch.stack([row[query] for query, row in enumerate(vectors)])
    context = (vectors.sum(dim=1) - kept).norm(dim=-1)
    return context / (context + kept.norm(dim=-1))
