"""Shared reading of pre-norm encoders of patches, whatever the names of their modules.

The normalisation after the last layer belongs to no layer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from analysis.models.capture import record_outputs
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.gradients import Loss, attention_gradients
from analysis.models.parts import (
    attentions_of,
    bias_of,
    forward_pass,
    layer_norm,
    layer_traces,
    network_of,
    projections,
)
from analysis.models.trace import LayerWeights, Model, Trace
from analysis.scopes import PRE_NORM


@dataclass(frozen=True)
class PatchLayer:
    """The modules of one layer, and the scale of each block's output, channel by channel.

    `attention_output` is the module whose output is added to the residual. A factor of None is 1.
    Factors are folded into all output weights, so that a head's addition to the residual includes
    them.
    """

    module: Model
    attention: Model
    attention_norm: Model
    attention_output: Model
    feed_forward: Model
    feed_forward_norm: Model
    attention_factor: Tensor | None = None
    feed_forward_factor: Tensor | None = None

    def weights(self, heads: int, network: FeedForwardWeights) -> LayerWeights:
        """The weights of the layer."""
        attention, output = self.attention, self.attention.o_proj
        sides = (attention.q_proj, attention.k_proj, attention.v_proj)
        return LayerWeights(
            **projections(((side.weight.T, bias_of(side)) for side in sides), heads),
            output_weight=_scaled(output.weight.T, self.attention_factor).unflatten(0, (heads, -1)),
            output_bias=_scaled(bias_of(output), self.attention_factor),
            feed_forward=replace(
                network,
                output_weight=_scaled(network.output_weight, self.feed_forward_factor),
                output_bias=_scaled(network.output_bias, self.feed_forward_factor),
            ),
            order=PRE_NORM,
            norms=(layer_norm(self.attention_norm), layer_norm(self.feed_forward_norm)),
            is_causal=False,
        )


def plain_network(mlp: Model, activation: str) -> FeedForwardWeights:
    """The weights of a network of two projections, by the name of its activation."""
    return network_of(mlp.fc1, mlp.fc2, activation)


def patch_weights(
    model: Model,
    parts: tuple[PatchLayer, ...],
    network: Callable[[Model, str], FeedForwardWeights] = plain_network,
) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last.

    Args:
        network: reads the feed-forward network, by the name of its activation.
    """
    heads, activation = model.config.num_attention_heads, model.config.hidden_act
    return tuple(part.weights(heads, network(part.feed_forward, activation)) for part in parts)


def patch_gradients(model: Model, inputs: dict[str, Tensor], loss: Loss) -> tuple[Tensor, ...]:
    """Gradients of a loss with respect to the attention weights of each layer."""
    n_layers = model.config.num_hidden_layers
    return attention_gradients(model, inputs, loss, first=model.embeddings, n_layers=n_layers)


def _scaled(weight: Tensor, factor: Tensor | None) -> Tensor:
    return (weight if factor is None else weight * factor).detach()


def trace_patches(
    model: Model,
    parts: tuple[PatchLayer, ...],
    layers: tuple[LayerWeights, ...],
    inputs: dict[str, Tensor],
    *,
    special: tuple[Tensor, ...],
) -> Trace:
    """Run the model once and split the result by layer; every token of an image is real.

    Word embeddings are the patches' own embeddings, and the learned vectors of the special tokens
    in front of them.

    Args:
        special: those vectors, each of them or several with a first axis of 1.
    """
    watched = {"input 0": model.embeddings, "patches": model.embeddings.patch_embeddings}
    watched |= {f"input {i + 1}": part.module for i, part in enumerate(parts)}
    watched |= {f"normed {i}": part.attention_norm for i, part in enumerate(parts)}
    watched |= {f"value {i}": part.attention.v_proj for i, part in enumerate(parts)}
    watched |= {f"output {i}": part.attention_output for i, part in enumerate(parts)}
    with torch.inference_mode(), record_outputs(watched) as seen:
        attentions = attentions_of(forward_pass(model, inputs), len(parts))
        patches = seen["patches"]
        if patches.dim() == 4:  # as a convolution leaves them: channel, row, column
            patches = patches.flatten(2).mT
        in_front = (vector.detach().expand(len(patches), -1, -1) for vector in special)
        words = torch.cat([*in_front, patches], dim=1)
    values = [seen[f"value {i}"] for i in range(len(parts))]
    return Trace(
        layers=layer_traces(layers, seen, attentions, values=values),
        is_token=torch.ones(words.shape[:2], dtype=torch.bool, device=words.device),
        word_embeddings=words,
    )
