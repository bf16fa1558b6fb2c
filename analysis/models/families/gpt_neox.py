"""GPT-NeoX and Pythia: decoders with one matrix for query, key and value, head after head.

Heads rotate a part of the coordinates of queries and keys. Attention and network are parallel, or
sequential if the configuration sets it.
"""

from torch import Tensor

from analysis.models.attention import LayerParts, ModelParts
from analysis.models.families import decoder
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.parts import (
    activation_named,
    bias_of,
    layer_norm,
    projections,
    token_embeddings,
)
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PARALLEL, PRE_NORM

FAMILIES = ("gpt_neox",)
LANGUAGE_MODELS = {"GPTNeoXForCausalLM": "AutoModelForCausalLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = decoder.CLASSIFIERS
fit_to_images, layout, class_logits = decoder.fit_to_images, decoder.layout, decoder.class_logits
positions, position_embedding = decoder.positions, decoder.position_embedding
changed_positions, model_inputs = decoder.changed_positions, decoder.model_inputs
word_embeddings = token_embeddings


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    activation_named(model.config.hidden_act)
    decoder.check_rotary(model)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return tuple(_layer_weights(model, index) for index in range(len(model.layers)))


def _layer_weights(model: Model, index: int) -> LayerWeights:
    config, layer, heads = model.config, model.layers[index], model.config.num_attention_heads
    fused, output, network = layer.attention.query_key_value, layer.attention.dense, layer.mlp
    hidden, back = network.dense_h_to_4h, network.dense_4h_to_h
    sides = zip(_three(fused.weight.T, heads), _three(bias_of(fused), heads), strict=True)
    return LayerWeights(
        **projections(sides, heads),
        output_weight=output.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=bias_of(output),
        feed_forward=FeedForwardWeights(
            input_weight=hidden.weight.detach().T,
            input_bias=hidden.bias.detach(),
            output_weight=back.weight.detach().T,
            output_bias=back.bias.detach(),
            activation=activation_named(config.hidden_act),
        ),
        order=PARALLEL if config.use_parallel_residual else PRE_NORM,
        norms=(layer_norm(layer.input_layernorm), layer_norm(layer.post_attention_layernorm)),
        is_causal=getattr(config, "is_causal", True),
        rotary=decoder.rotary_of(model, index),
    )


def _three(fused: Tensor, heads: int) -> tuple[Tensor, ...]:
    """Queries, keys and values of all heads, from columns ordered by head."""
    by_head = fused.unflatten(-1, (heads, 3, -1))
    return tuple(side.flatten(-2) for side in by_head.unbind(dim=-2))


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    return language_model.get_output_embeddings()(hidden)


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(
        model.embed_in,
        tuple(
            LayerParts(layer, layer.attention, layer.attention.dense, layer.input_layernorm)
            for layer in model.layers
        ),
    )
