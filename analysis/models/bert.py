"""BERT and its kin: post-norm encoders with separate query, key and value projections.

RoBERTa keeps the same modules under the same names; what differs (position offset, segments,
special tokens) happens before the first layer or in the tokenizer, so one file serves both.
"""

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.capture import attentions_of, record_outputs
from analysis.models.trace import (
    FeedForwardWeights,
    LayerNormWeights,
    LayerTrace,
    LayerWeights,
    Model,
    Trace,
)

FAMILIES = ("bert", "roberta")
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
"""What configurations call an activation to what its gate is called here."""


def check(model: Model) -> None:
    """Refuse a configuration that this family's reading does not cover.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    config = model.config
    if config.hidden_act not in ACTIVATIONS:
        raise UnfitModel(
            f"The model's activation is {config.hidden_act!r}; "
            f"covered are {', '.join(sorted(ACTIVATIONS))}."
        )
    if getattr(config, "is_decoder", False):
        raise UnfitModel("The model is configured as a decoder; encoders are covered.")
    positions = getattr(config, "position_embedding_type", None) or "absolute"
    if positions != "absolute":
        raise UnfitModel(
            f"The model's positions are {positions!r}; learned 'absolute' ones are covered."
        )


def positions(model: Model) -> int:
    """The longest sequence that the model has positions for."""
    table = model.embeddings.position_embeddings
    reserved = 0 if table.padding_idx is None else table.padding_idx + 1
    return table.num_embeddings - reserved


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    config = model.config
    return tuple(
        _layer_weights(layer, config.num_attention_heads, ACTIVATIONS[config.hidden_act])
        for layer in model.encoder.layer
    )


def _layer_weights(layer: Model, heads: int, activation: str) -> LayerWeights:
    value, output = layer.attention.self.value, layer.attention.output.dense
    hidden, back = layer.intermediate.dense, layer.output.dense
    return LayerWeights(
        value_weight=value.weight.detach().T.unflatten(1, (heads, -1)).transpose(0, 1),
        value_bias=value.bias.detach().unflatten(0, (heads, -1)),
        output_weight=output.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=output.bias.detach(),
        attention_norm=_norm(layer.attention.output.LayerNorm),
        feed_forward=FeedForwardWeights(
            input_weight=hidden.weight.detach().T,
            input_bias=hidden.bias.detach(),
            output_weight=back.weight.detach().T,
            output_bias=back.bias.detach(),
            activation=activation,
        ),
        output_norm=_norm(layer.output.LayerNorm),
    )


def _norm(module: Model) -> LayerNormWeights:
    return LayerNormWeights(module.weight.detach(), module.bias.detach(), module.eps)


def trace(model: Model, layers: tuple[LayerWeights, ...], inputs: dict[str, Tensor]) -> Trace:
    """Run the model once and take each layer apart."""
    modules = model.encoder.layer
    watched = {"input 0": model.embeddings}
    watched |= {f"input {i + 1}": layer for i, layer in enumerate(modules)}
    watched |= {f"value {i}": layer.attention.self.value for i, layer in enumerate(modules)}
    watched |= {f"output {i}": layer.attention.output.dense for i, layer in enumerate(modules)}
    with torch.inference_mode(), record_outputs(watched) as seen:
        attentions = attentions_of(model(**inputs, output_attentions=True), len(modules))
    heads = model.config.num_attention_heads
    return Trace(
        layers=tuple(
            LayerTrace(
                weights=layer,
                input=seen[f"input {i}"],
                attention=attentions[i],
                values=seen[f"value {i}"].unflatten(-1, (heads, -1)).transpose(1, 2),
                attention_output=seen[f"output {i}"],
                output=seen[f"input {i + 1}"],
            )
            for i, layer in enumerate(layers)
        ),
        is_token=inputs["attention_mask"].bool(),
    )
