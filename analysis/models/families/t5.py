"""The encoders of T5 and mT5: pre-norm with root mean squares. Decoders are not read.

Scores are not scaled and have a bias for every distance, which the first layer holds for all
layers.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import torch
from torch import Tensor

from analysis.models.attention import LayerParts, ModelParts
from analysis.models.capture import change_output
from analysis.models.families import bert
from analysis.models.offset_terms import OffsetTerms
from analysis.models.parts import (
    activation_named,
    bias_of,
    gate_named,
    network_of,
    no_class_logits,
    no_images,
    no_logits,
    own_inputs,
    projections,
    root_mean_square,
    token_embeddings,
)
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PRE_NORM

FAMILIES = ("t5", "mt5")
LOADERS = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel"}
"""Class that loads the encoder, from a checkpoint of the encoder or of the whole model."""
LANGUAGE_MODELS: dict[str, str] = {}
CLASSIFIERS: dict[str, str] = {}
fit_to_images, layout = no_images, bert.layout
logits, class_logits = no_logits, no_class_logits
model_inputs = own_inputs
word_embeddings = token_embeddings
_LONGEST = 512
"""Longest text in the training of these models; their configurations do not state it."""


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    config = model.config
    (gate_named if config.is_gated_act else activation_named)(config.dense_act_fn)


def positions(model: Model) -> int:
    """Return the longest text in the training of such models; distances have no limit."""
    return getattr(model.config, "n_positions", _LONGEST)


def position_embedding(model: Model) -> None:
    """Return None: there are no learned position vectors."""


def _first(model: Model) -> Model:
    """Return the attention that holds the bias of all layers."""
    return model.encoder.block[0].layer[0].SelfAttention


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the distances between tokens within a context."""

    def moved(bias: Tensor) -> Tensor:
        places = change(torch.arange(len(bias), device=bias.device)[:, None])[:, 0]
        return bias[places[:, None], places]

    return change_output(_first(model).relative_attention_bias, moved)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    first = _first(model)
    furthest = first.relative_attention_max_distance
    offsets = torch.arange(-furthest, furthest + 1, device=model.device)
    buckets = first._relative_position_bucket(
        offsets, num_buckets=first.relative_attention_num_buckets, max_distance=furthest
    )
    terms = OffsetTerms(buckets, bias=first.relative_attention_bias.weight.detach().T)
    layers = (_layer(block, model.config) for block in model.encoder.block)
    return tuple(replace(layer, offset_terms=terms) for layer in layers)


def _layer(block: Model, config: Model) -> LayerWeights:
    attention, network, heads = block.layer[0], block.layer[-1], config.num_heads
    module = attention.SelfAttention
    mlp = network.DenseReluDense
    hidden, gate = (mlp.wi_1, mlp.wi_0) if config.is_gated_act else (mlp.wi, None)
    feed_forward = network_of(hidden, mlp.wo, config.dense_act_fn, gate=gate)
    sides = (module.q, module.k, module.v)
    return LayerWeights(
        **projections(((side.weight.T, bias_of(side)) for side in sides), heads)
        | {"score_scale": module.scaling},
        output_weight=module.o.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=bias_of(module.o),
        feed_forward=feed_forward,
        order=PRE_NORM,
        norms=(root_mean_square(attention.layer_norm), root_mean_square(network.layer_norm)),
        is_causal=False,
    )


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(
        model.encoder.embed_tokens,
        tuple(
            LayerParts(
                layer=block.layer[-1],
                attention=block.layer[0].SelfAttention,
                output=block.layer[0].SelfAttention.o,
                norm=block.layer[0].layer_norm,
            )
            for block in model.encoder.block
        ),
    )
