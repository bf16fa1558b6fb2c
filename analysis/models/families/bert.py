"""BERT and its kin: post-norm encoders with separate query, key and value projections.

RoBERTa keeps the same modules under the same names; what differs (position offset, segments,
special tokens) happens before the first layer or in the tokenizer, so one file serves both.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import LayerParts, ModelParts
from analysis.models.capture import change_output
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.parts import (
    activation_named,
    all_inputs,
    layer_norm,
    no_images,
    projections,
    token_embeddings,
)
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import POST_NORM

FAMILIES = ("bert", "roberta")
LANGUAGE_MODELS: dict[str, str] = dict.fromkeys(
    ("BertForMaskedLM", "BertForPreTraining", "RobertaForMaskedLM"), "AutoModelForMaskedLM"
)
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS: dict[str, str] = dict.fromkeys(
    ("BertForSequenceClassification", "RobertaForSequenceClassification"),
    "AutoModelForSequenceClassification",
)
"""Loader of each classifier class that a configuration may name."""
fit_to_images = no_images
word_embeddings, model_inputs = token_embeddings, all_inputs


def layout(model: Model) -> None:
    """The model reads text."""


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    config = model.config
    activation_named(config.hidden_act)
    if getattr(config, "is_decoder", False):
        raise UnfitModel("The model is configured as a decoder; encoders are covered.")
    positions = getattr(config, "position_embedding_type", None) or "absolute"
    if positions != "absolute":
        raise UnfitModel(
            f"The model's positions are {positions!r}; learned 'absolute' ones are covered."
        )


def positions(model: Model) -> int:
    """The longest sequence that the model has positions for."""
    return len(position_embedding(model))


def position_embedding(model: Model) -> Tensor:
    """One vector per position, from the first that a token can have."""
    table = model.embeddings.position_embeddings
    reserved = 0 if table.padding_idx is None else table.padding_idx + 1
    return table.weight.detach()[reserved:]


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the position embeddings of a model within a context."""
    return change_output(model.embeddings.position_embeddings, change)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    config, layers = model.config, []
    for layer in model.encoder.layer:
        attention = layer.attention.self
        sides = (attention.query, attention.key, attention.value)
        layers.append(LayerWeights(**encoder_layer(layer, config, sides)))
    return tuple(layers)


def encoder_layer(layer: Model, config: Any, sides: tuple[Model, ...]) -> dict[str, Any]:
    """Fields of a layer's weights.

    Args:
        sides: the projections to queries, keys and values.
    """
    heads, output = config.num_attention_heads, layer.attention.output.dense
    hidden, back = layer.intermediate.dense, layer.output.dense
    return projections(((side.weight.T, side.bias) for side in sides), heads) | {
        "output_weight": output.weight.detach().T.unflatten(0, (heads, -1)),
        "output_bias": output.bias.detach(),
        "feed_forward": FeedForwardWeights(
            input_weight=hidden.weight.detach().T,
            input_bias=hidden.bias.detach(),
            output_weight=back.weight.detach().T,
            output_bias=back.bias.detach(),
            activation=activation_named(config.hidden_act),
        ),
        "order": POST_NORM,
        "norms": (layer_norm(layer.attention.output.LayerNorm), layer_norm(layer.output.LayerNorm)),
        "is_causal": False,
    }


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    head = language_model.lm_head if hasattr(language_model, "lm_head") else language_model.cls
    return head(hidden)


def class_logits(classifier: Model, hidden: Tensor) -> Tensor:
    """Logits over the classes, from last hidden states."""
    pooler = getattr(classifier.base_model, "pooler", None)
    return classifier.classifier(hidden if pooler is None else pooler(hidden))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return ModelParts(model.embeddings, layer_parts(model))


def layer_parts(model: Model) -> tuple[LayerParts, ...]:
    """The modules of every layer."""
    return tuple(
        LayerParts(layer, layer.attention.self, layer.attention.output.dense)
        for layer in model.encoder.layer
    )
