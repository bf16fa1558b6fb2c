"""ModernBERT: a pre-norm encoder with rotary positions and gated networks.

Local and global layers alternate. The first layer reads the output of the embeddings, which is
normalised already. The normalisation after the last layer belongs to no layer.
"""

import torch
from torch import Tensor

from analysis.models.attention import LayerParts, ModelParts
from analysis.models.families import decoder
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.norm import NoNorm, Norm
from analysis.models.parts import (
    bias_of,
    gate_named,
    layer_norm,
    no_class_logits,
    own_inputs,
    projections,
    token_embeddings,
)
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PRE_NORM

FAMILIES = ("modernbert",)
LANGUAGE_MODELS = {"ModernBertForMaskedLM": "AutoModelForMaskedLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS: dict[str, str] = {}
class_logits = no_class_logits
fit_to_images, layout, check = decoder.fit_to_images, decoder.layout, decoder.check
positions, position_embedding = decoder.positions, decoder.position_embedding
changed_positions, model_inputs = decoder.changed_positions, own_inputs
word_embeddings = token_embeddings


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return tuple(_layer_weights(model, index) for index in range(len(model.layers)))


def _layer_weights(model: Model, index: int) -> LayerWeights:
    config, layer, heads = model.config, model.layers[index], model.config.num_attention_heads
    fused, output, norms = layer.attn.Wqkv, layer.attn.Wo, (layer.attn_norm, layer.mlp_norm)
    sides = zip(fused.weight.T.chunk(3, dim=1), bias_of(fused).chunk(3), strict=True)
    is_local = config.layer_types[index] == "sliding_attention"
    return LayerWeights(
        **projections(sides, heads),
        output_weight=output.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=bias_of(output),
        feed_forward=_network(layer.mlp, config.hidden_activation),
        order=PRE_NORM,
        norms=tuple(_norm(norm, nothing=torch.zeros_like(output.weight[0])) for norm in norms),
        is_causal=False,
        rotary=decoder.rotary_of(model, index),
        window=config.sliding_window if is_local else None,
    )


def _norm(module: Model, *, nothing: Tensor) -> Norm:
    """The weights of a normalisation; the identity before the first layer's attention."""
    is_one = isinstance(module, torch.nn.LayerNorm)
    return layer_norm(module) if is_one else NoNorm(nothing)


def _network(mlp: Model, activation: str) -> FeedForwardWeights:
    """The weights of the gated network; the first half of its input projection makes the gates."""
    (gate, inputs), (gate_bias, input_bias) = mlp.Wi.weight.chunk(2), bias_of(mlp.Wi).chunk(2)
    return FeedForwardWeights(
        input_weight=inputs.detach().T,
        input_bias=input_bias,
        output_weight=mlp.Wo.weight.detach().T,
        output_bias=bias_of(mlp.Wo),
        activation=gate_named(activation),
        gate_weight=gate.detach().T,
        gate_bias=gate_bias,
    )


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    return language_model.decoder(language_model.head(hidden))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(
        model.embeddings,
        tuple(
            LayerParts(layer, layer.attn, layer.attn.Wo, layer.attn_norm) for layer in model.layers
        ),
    )
