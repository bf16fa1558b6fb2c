"""GPT-2: a pre-norm decoder whose query, key and value projections are one matrix.

Its projections are stored input × output, so nothing is transposed. The normalisation after the
last layer belongs to no layer.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import LayerParts, ModelParts
from analysis.models.capture import change_output
from analysis.models.families import decoder
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.parts import (
    activation_named,
    layer_norm,
    no_class_logits,
    no_images,
    projections,
    token_embeddings,
)
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PRE_NORM

FAMILIES = ("gpt2",)
LANGUAGE_MODELS = {"GPT2LMHeadModel": "AutoModelForCausalLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS: dict[str, str] = {}
class_logits = no_class_logits
_PLAIN = {
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
fit_to_images, model_inputs = no_images, decoder.model_inputs
word_embeddings = token_embeddings


def layout(model: Model) -> None:
    """The model reads text."""


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    config = model.config
    activation_named(config.activation_function)
    for name, covered in _PLAIN.items():
        if (value := getattr(config, name, covered)) != covered:
            raise UnfitModel(f"The model's {name} is {value!r}; covered is {covered!r}.")


def positions(model: Model) -> int:
    """The longest sequence that the model has positions for."""
    return len(position_embedding(model))


def position_embedding(model: Model) -> Tensor:
    """One vector per position."""
    return model.wpe.weight.detach()


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the position embeddings of a model within a context."""
    return change_output(model.wpe, change)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    config = model.config
    activation = activation_named(config.activation_function)
    is_causal = getattr(config, "is_causal", True)
    return tuple(
        _layer_weights(layer, config.n_head, activation, is_causal=is_causal) for layer in model.h
    )


def _layer_weights(layer: Model, heads: int, activation: str, *, is_causal: bool) -> LayerWeights:
    fused, output = layer.attn.c_attn, layer.attn.c_proj
    hidden, back = layer.mlp.c_fc, layer.mlp.c_proj
    sides = zip(fused.weight.chunk(3, dim=1), fused.bias.chunk(3, dim=0), strict=True)
    return LayerWeights(
        **projections(sides, heads),
        output_weight=output.weight.detach().unflatten(0, (heads, -1)),
        output_bias=output.bias.detach(),
        feed_forward=FeedForwardWeights(
            input_weight=hidden.weight.detach(),
            input_bias=hidden.bias.detach(),
            output_weight=back.weight.detach(),
            output_bias=back.bias.detach(),
            activation=activation,
        ),
        order=PRE_NORM,
        norms=(layer_norm(layer.ln_1), layer_norm(layer.ln_2)),
        is_causal=is_causal,
    )


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    return language_model.lm_head(hidden)


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace.

    The output of a layer is that of its last addition: the library's list of hidden states would
    end with a normalised one.
    """
    return ModelParts(
        model.drop,
        tuple(LayerParts(layer, layer.attn, layer.attn.c_proj, layer.ln_1) for layer in model.h),
    )
