"""modarressi-2023: one vector per token of the input, carried through the layers pair by pair.

The biases are one more summand, which belongs to no token.
"""

import torch
from torch import Tensor

from analysis.models.trace import LayerNormWeights, LayerTrace
from tests.reference.mixing.layer_mixing import ACTIVATIONS

Vectors = dict[tuple[int, int | None], Tensor]
"""By the token they are in and the token of the input that they come from, None for the bias."""


def vectors(layers: list[LayerTrace]) -> list[Vectors]:
    """What makes up every token after each of the layers."""
    inputs = layers[0].input[0]
    n = len(inputs)
    nothing = torch.zeros_like(inputs[0])
    now: Vectors = {(i, j): inputs[i] if i == j else nothing for i in range(n) for j in range(n)}
    now |= {(i, None): nothing for i in range(n)}
    found = []
    for layer in layers:
        now = _after(layer, now)
        found.append(now)
    return found


def _after(layer: LayerTrace, before: Vectors) -> Vectors:
    weights = layer.weights
    read = _normed(weights.attention_norm, before) if weights.norm_first else before
    stream = {place: vector + before[place] for place, vector in _attended(layer, read).items()}
    if weights.norm_first:
        network = _network(layer, _normed(weights.feed_forward_norm, stream))
        return {place: vector + stream[place] for place, vector in network.items()}
    normed = _normed(weights.attention_norm, stream)
    network = _network(layer, normed)
    whole = {place: vector + normed[place] for place, vector in network.items()}
    return _normed(weights.feed_forward_norm, whole)


def _attended(layer: LayerTrace, read: Vectors) -> Vectors:
    weights, attention = layer.weights, layer.attention[0]
    n_heads, n, _ = attention.shape
    found: Vectors = {}
    for i, source in read:
        vector = weights.output_bias.clone() if source is None else 0
        for head in range(n_heads):
            for k in range(n):
                value = read[k, source] @ weights.value_weight[head]
                if source is None:
                    value = value + weights.value_bias[head]
                vector = vector + attention[head, i, k] * (value @ weights.output_weight[head])
        found[i, source] = torch.as_tensor(vector)
    return found


def _network(layer: LayerTrace, read: Vectors) -> Vectors:
    weights = layer.weights.feed_forward
    found: Vectors = {}
    for i, whole in _wholes(read).items():
        hidden = whole @ weights.input_weight + weights.input_bias
        gate = ACTIVATIONS[weights.activation](hidden) / hidden
        for place in read:
            if place[0] == i:
                part = read[place] @ weights.input_weight
                if place[1] is None:
                    part = part + weights.input_bias
                found[place] = (gate * part) @ weights.output_weight
        found[i, None] = found[i, None] + weights.output_bias
    return found


def _normed(norm: LayerNormWeights, parts: Vectors) -> Vectors:
    found: Vectors = {}
    wholes = _wholes(parts)
    for (i, source), vector in parts.items():
        deviation = (wholes[i].var(unbiased=False) + norm.epsilon).sqrt()
        found[i, source] = (vector - vector.mean()) / deviation * norm.scale
        if source is None:
            found[i, source] = found[i, source] + norm.shift
    return found


def _wholes(parts: Vectors) -> dict[int, Tensor]:
    """What the parts of every token add up to: its own vector in the model."""
    wholes: dict[int, Tensor] = {}
    for (i, _), vector in parts.items():
        wholes[i] = wholes[i] + vector if i in wholes else vector
    return wholes
