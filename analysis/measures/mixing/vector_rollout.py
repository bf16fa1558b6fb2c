"""Every token's own vector, followed from the model's input through one layer after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import activation_gate
from analysis.measures.mixing.layer_mixing import BUDGET
from analysis.models.trace import LayerNormWeights, LayerTrace


@dataclass(frozen=True)
class TokenVectors:
    """How much of every token of the model's input is in every token after one layer.

    `map` holds ‖V_ij‖, 0 where nothing of j can have reached i; `bias` the norm of what no token
    sent; `error` the largest distance of any token's Σ_j V_ij + bias_i from the model's own x_i,
    over the norm of x_i.
    """

    map: Float[Tensor, "query key"]
    bias: Float[Tensor, " query"]
    error: float

    @property
    def bias_share(self) -> float:
        """‖bias_i‖ / (Σ_j ‖V_ij‖ + ‖bias_i‖), mean over the tokens i."""
        return (self.bias / (self.map.sum(dim=1) + self.bias)).mean().item()


def vector_rollout(
    layers: Sequence[LayerTrace], *, budget: int = BUDGET
) -> tuple[TokenVectors, ...]:
    """The vectors V_ij that make up every token after every layer, one per token of the input.

    V⁰_ij is x_j where i = j, else 0: what enters the first layer is the input, and nothing else.
    Given the query, every module is linear, as it is for `layer_mixing`: attention by its weights,
    layer normalisation by the deviation of the whole vector, the activation by its gate. So each
    input token goes through all layers by itself, and only norms and sums are kept of it. Nothing
    is lost that norms lose, which cannot cancel each other.

    Everything that the model adds by itself is one more summand, the bias, and is given to no
    token: b_V too, and the shift of every normalisation. A summand is no whole token any more, and
    the rows of attention add up to 1, so that b_V is the same for whatever mixture arrives.

    Args:
        layers: a trace of a single sequence without padding, from the first layer on.
        budget: bytes for the hidden vectors of pairs, which are made a few keys at a time.

    Source:
        modarressi-2023, section 3.

    Differs:
        The paper shares the biases out among the tokens by absolute dot products, and goes on to
        the classifier; here they have a summand of their own, and each layer is measured by norms.
    """
    steps = [_Step(each) for each in layers]
    inputs = layers[0].input[0]
    n_tokens = len(inputs)
    n_keys = min(n_tokens, max(1, budget // steps[0].bytes_per_key))
    maps = inputs.new_empty(len(steps), n_tokens, n_tokens)
    sums = inputs.new_zeros(len(steps), *inputs.shape)
    for start in range(0, n_tokens, n_keys):
        keys = torch.arange(start, min(start + n_keys, n_tokens), device=inputs.device)
        parts = inputs.new_zeros(len(keys), *inputs.shape)
        parts[keys - start, keys] = inputs[keys]
        for depth, step in enumerate(steps):
            parts = step.passed_on(parts)
            maps[depth, :, keys] = parts.norm(dim=-1).T
            sums[depth] += parts.sum(dim=0)
    found, bias = [], torch.zeros_like(inputs)
    for step, map, sum_of_tokens in zip(steps, maps, sums, strict=True):
        bias = step.passed_on(bias[None], is_bias=True)[0]
        output = step.layer.output[0]
        missed = (sum_of_tokens + bias - output).norm(dim=-1) / output.norm(dim=-1)
        found.append(TokenVectors(map.cpu(), bias.norm(dim=-1).cpu(), missed.max().item()))
    return tuple(found)


class _Step:
    """One layer as a linear map of any summand of its input, given the forward pass."""

    def __init__(self, layer: LayerTrace):
        self.layer = layer
        weights, norm = layer.weights, layer.weights.middle_norm
        forward = weights.feed_forward
        stream = layer.attention_output[0] + layer.input[0]
        self.read_deviation = weights.attention_norm.deviation(layer.input[0])
        self.middle_deviation = norm.deviation(stream)
        normed = norm.centred(stream) / self.middle_deviation + norm.shift
        hidden = normed @ forward.input_weight + forward.input_bias
        self.gate = activation_gate(hidden, forward.activation)
        passed = (self.gate * hidden) @ forward.output_weight + forward.output_bias
        self.end_deviation = weights.feed_forward_norm.deviation(passed + normed)
        """Of the normalisation that ends a post-norm layer; a pre-norm layer has none."""

    @property
    def bytes_per_key(self) -> int:
        return self.gate.numel() * self.gate.element_size()

    def passed_on(
        self, parts: Float[Tensor, "key query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "key query width"]:
        """What leaves the layer of summands of what enters it.

        Args:
            is_bias: whether the summand is the bias, to which the layer adds its own.
        """
        own = 1 if is_bias else 0
        weights, forward = self.layer.weights, self.layer.weights.feed_forward
        read = parts
        if weights.norm_first:
            read = _normed(weights.attention_norm, parts, self.read_deviation, own=own)
        stream = parts + self._attended(read, own=own)
        normed = _normed(weights.middle_norm, stream, self.middle_deviation, own=own)
        hidden = normed @ forward.input_weight + own * forward.input_bias
        passed = (self.gate * hidden) @ forward.output_weight + own * forward.output_bias
        if weights.norm_first:
            return passed + stream
        return _normed(weights.feed_forward_norm, passed + normed, self.end_deviation, own=own)

    def _attended(
        self, read: Float[Tensor, "key query width"], *, own: int
    ) -> Float[Tensor, "key query width"]:
        """What attention hands on, its weights being those of the forward pass."""
        weights = self.layer.weights
        values = torch.einsum("jkd,hde->jkhe", read, weights.value_weight)
        values = values + own * weights.value_bias
        mixed = torch.einsum("hik,jkhe->jihe", self.layer.attention[0], values)
        output = weights.output_weight.flatten(0, 1)
        return mixed.flatten(2) @ output + own * weights.output_bias


def _normed(
    norm: LayerNormWeights,
    parts: Float[Tensor, "key query width"],
    deviation: Float[Tensor, "query one"],
    *,
    own: int,
) -> Float[Tensor, "key query width"]:
    return norm.centred(parts) / deviation + own * norm.shift
