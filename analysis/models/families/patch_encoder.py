"""Shared reading of pre-norm encoders of patches, whatever the names of their modules.

The normalisation after the last layer belongs to no layer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.models.attention import LayerParts, ModelParts
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.parts import (
    bias_of,
    layer_norm,
    network_of,
    projections,
)
from analysis.models.trace import LayerWeights, Model
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


def _scaled(weight: Tensor, factor: Tensor | None) -> Tensor:
    return (weight if factor is None else weight * factor).detach()


def patch_parts(model: Model, layers: tuple[PatchLayer, ...]) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(
        model.embeddings,
        tuple(
            LayerParts(part.module, part.attention, part.attention_output, part.attention_norm)
            for part in layers
        ),
    )


def patch_words(
    model: Model, inputs: dict[str, Tensor], *, special: tuple[Tensor, ...]
) -> Float[Tensor, "batch token width"]:
    """Embeddings of the patches alone, and the learned vectors of special tokens before them.

    Args:
        special: those vectors, each of them or several with a first axis of 1.
    """
    patches = model.embeddings.patch_embeddings(inputs["pixel_values"].to(model.dtype))
    if patches.dim() == 4:  # as a convolution leaves them: channel, row, column
        patches = patches.flatten(2).mT
    in_front = (vector.detach().expand(len(patches), -1, -1) for vector in special)
    return torch.cat([*in_front, patches], dim=1)
