"""Signed shares of a layer's update: what heads, tokens, network, residual and biases bring."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.mixing.linear_layer import LinearLayer, linear_layer, through
from analysis.models.trace import LayerTrace


def contributions(
    layer: LayerTrace, is_type: Bool[Tensor, "cell key"]
) -> Float[Tensor, "term value query"]:
    """Share, length and norm of every part of a layer's update u = output − input.

    Given the query a normalisation is linear, so that what a head brings, Σ_j α_j f(x_j), goes
    through the steps of its block, and beside the network into the output. What the network makes
    of it is the network's.

    Args:
        layer: a trace of a single sequence without padding.
        is_type: masks of tokens that leave none out and share none.

    Returns:
        For every head, then for every mask what all heads bring from its tokens, then for
        `analysis.effects.REST`: ⟨part, u⟩ / ‖u‖², ‖part‖ / ‖u‖, and ‖Σ_j α_j f(x_j)‖ before any
        normalisation (NaN for the rest). Shares of heads and the rest sum to 1, and so do those of
        masks and the rest.

    Source:
        cunningham-2026, abstract: the influence of a token by its attention weight, the length of
        its value and how far that lies along the output.

    Differs:
        The source projects tokens onto a layer's output; here every part of a layer is projected
        onto the layer's update.
    """
    given, update = linear_layer(layer), (layer.output - layer.input)[0]
    size = update.norm(dim=-1)

    def measured(part: Tensor, norm: Tensor) -> Tensor:
        return torch.stack([(part * update).sum(-1) / size**2, part.norm(dim=-1) / size, norm])

    def of_attention(brought: Tensor) -> Tensor:
        return measured(_brought(layer, given, brought), brought.norm(dim=-1))

    of_heads = of_attention(_sent(layer, slice(None)))
    of_types = (of_attention(_sent(layer, keys).sum(dim=0)) for keys in is_type)
    of_rest = (measured(part, torch.full_like(size, torch.nan)) for part in _rest(layer, given))
    return torch.stack([*of_heads.unbind(1), *of_types, *of_rest])


def _sent(layer: LayerTrace, keys: Tensor | slice) -> Float[Tensor, "head query width"]:
    """Return Σ_j α_j f(x_j) of every head over some tokens."""
    mixed = layer.attention[0][:, :, keys] @ layer.values[0][:, keys]
    mixed = mixed if layer.gate is None else mixed * layer.gate[0]
    return mixed @ layer.weights.output_weight


def _brought(
    layer: LayerTrace, given: LinearLayer, sent: Tensor, *, is_bias: bool = False
) -> Tensor:
    """Return the part of the output that a part of attention's output is, beside the network."""
    nothing = torch.zeros_like(sent)
    part = through(given.after_attention, sent, nothing, is_bias=is_bias)
    own, residual = (part, nothing) if layer.weights.order.is_parallel else (nothing, part)
    return through(given.after_network, own, residual, is_bias=is_bias)


def _rest(layer: LayerTrace, given: LinearLayer) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parts of the update beside attention, as `analysis.effects.REST` names them."""
    stream, is_parallel = layer.input[0], layer.weights.order.is_parallel
    nothing, attended = torch.zeros_like(stream), layer.attention_output[0]
    whole, passed = (
        stream if is_parallel else through(given.after_attention, sent, stream, is_bias=is_bias)
        for sent, is_bias in ((attended, True), (nothing, False))
    )
    read = through(given.to_network, whole, whole, is_bias=True)
    network = through(given.after_network, given.network.output(read), nothing)
    residual = through(given.after_network, nothing, passed) - stream
    bias = layer.weights.output_bias.expand_as(stream)
    return network, residual, _brought(layer, given, bias, is_bias=True)
