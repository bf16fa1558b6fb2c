"""kobayashi-2024: a whole layer with every vector of every pair written out, query × key × width.

The activation is shared out by Integrated Gradients: numerically with `steps`, else in closed form
from the activation itself.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.models.norm import Norm
from analysis.models.trace import LayerTrace
from tests.reference.mixing.linear_layer import network_part, normalised


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
    values = torch.einsum("jd,hdk->hjk", read, weights.value_weight) + weights.value_bias[:, None]
    transformed = torch.einsum("hjk,hkd->hjd", values, weights.output_weight)
    itself = torch.eye(len(inputs), dtype=inputs.dtype, device=inputs.device)
    tokens = itself[:, :, None] * inputs[None, :, :]
    nothing = torch.zeros_like(inputs)
    walk = _Walk("ln_attn" if weights.order.attention[0] == "ln" else "attn")
    walk.now = (
        torch.einsum("hij,hjd->ijd", attention, transformed),
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
