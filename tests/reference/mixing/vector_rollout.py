"""modarressi-2023: one vector per token of the input, carried through the layers pair by pair.

The biases are one more summand, which belongs to no token.
"""

import torch
from torch import Tensor

from analysis.models.norm import Norm
from analysis.models.trace import LayerTrace
from tests.reference.mixing.linear_layer import network_part, normalised

Vectors = dict[tuple[int, int | None], Tensor]
"""By the token they are in and the token of the input that they come from, None for the bias."""


def vectors(layers: list[LayerTrace]) -> list[Vectors]:
    """Vectors of input tokens that add up to every token, after each of the layers."""
    inputs = layers[0].input[0]
    n = len(inputs)
    nothing = torch.zeros_like(inputs[0])
    now: Vectors = {(i, j): inputs[i] if i == j else nothing for i in range(n) for j in range(n)}
    now |= {(i, None): nothing for i in range(n)}
    after = []
    for layer in layers:
        now = _after(layer, now)
        after.append(now)
    return after


def _after(layer: LayerTrace, before: Vectors) -> Vectors:
    order, norms = layer.weights.order, list(layer.weights.norms)
    stream = before
    for step in order.attention:
        if step == "attn":
            stream = _attended(layer, stream)
        else:
            stream = _plus(stream, before) if step == "res" else _normed(norms.pop(0), stream)
    now = entering = before if order.is_parallel else stream
    for step in order.network_block:
        if step == "ff":
            now = _network(layer, now)
            now = _plus(now, stream) if order.is_parallel else now
        else:
            now = _plus(now, entering) if step == "res" else _normed(norms.pop(0), now)
    return now


def _plus(some: Vectors, others: Vectors) -> Vectors:
    return {place: vector + others[place] for place, vector in some.items()}


def _attended(layer: LayerTrace, read: Vectors) -> Vectors:
    weights, attention = layer.weights, layer.attention[0]
    n_heads, n, _ = attention.shape
    attended: Vectors = {}
    for i, source in read:
        vector = weights.output_bias.clone() if source is None else 0
        for head in range(n_heads):
            for k in range(n):
                value = read[k, source] @ weights.value_weight[head]
                if source is None:
                    value = value + weights.value_bias[head]
                vector = vector + attention[head, i, k] * (value @ weights.output_weight[head])
        attended[i, source] = torch.as_tensor(vector)
    return attended


def _network(layer: LayerTrace, read: Vectors) -> Vectors:
    weights, wholes = layer.weights.feed_forward, _wholes(read)
    return {
        (i, source): network_part(weights, vector, wholes[i], is_bias=source is None)
        for (i, source), vector in read.items()
    }


def _normed(norm: Norm, parts: Vectors) -> Vectors:
    wholes = _wholes(parts)
    return {
        (i, source): normalised(norm, vector, wholes[i], is_bias=source is None)
        for (i, source), vector in parts.items()
    }


def _wholes(parts: Vectors) -> dict[int, Tensor]:
    """Sum of the parts of every token: its own vector in the model."""
    wholes: dict[int, Tensor] = {}
    for (i, _), vector in parts.items():
        wholes[i] = wholes[i] + vector if i in wholes else vector
    return wholes
