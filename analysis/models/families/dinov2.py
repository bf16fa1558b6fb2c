"""DINOv2, with or without registers: pre-norm encoders that scale the output of each block.

The scales are folded into the output weights, so that a head's share of the residual includes them.
The class token and the patches have positions, the registers between them have none. The model
interpolates those of the patches to the size of its images.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import ModelParts
from analysis.models.capture import change_output
from analysis.models.families.decoder import gated_network
from analysis.models.families.patch_encoder import (
    PatchLayer,
    patch_parts,
    patch_weights,
    patch_words,
    plain_network,
)
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.layout import CLASS, TokenLayout, check_grid, grid_of, register, two_sizes
from analysis.models.parts import activation_named, all_inputs, no_logits
from analysis.models.trace import LayerWeights, Model

FAMILIES = ("dinov2", "dinov2_with_registers")
LANGUAGE_MODELS: dict[str, str] = {}
CLASSIFIERS: dict[str, str] = dict.fromkeys(
    ("Dinov2ForImageClassification", "Dinov2WithRegistersForImageClassification"),
    "AutoModelForImageClassification",
)
"""Loader of each classifier class that a configuration may name."""
logits = no_logits
model_inputs = all_inputs


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    if not model.config.use_swiglu_ffn:  # gates are SiLU, whatever the configuration names
        activation_named(model.config.hidden_act)
    check_grid(model)
    rows, columns = _learned_grid(model)
    if rows != columns:
        raise UnfitModel(
            f"The model's image_size makes {rows} × {columns} patches, and a DINOv2 interpolates "
            "its positions from a square grid alone. Give a square image_size in config.json; what "
            "the image processor makes need not be square."
        )


def fit_to_images(model: Model, size: tuple[int, int]) -> None:
    """Set the height and width of images in pixels; the model interpolates its positions to them.

    Raises:
        UnfitModel: a side is no multiple of a patch's.
    """
    patch = two_sizes(model.config.patch_size)
    if size[0] % patch[0] or size[1] % patch[1]:
        raise UnfitModel(
            f"The model's image processor makes images of {size[0]} × {size[1]} pixels (height × "
            f"width), which patches of {patch[0]} × {patch[1]} do not fill. Give multiples of "
            "these as `crop_size` or `size` in preprocessor_config.json."
        )
    model.config.image_size = list(size)


def layout(model: Model) -> TokenLayout:
    """The class token, the registers, then the patches."""
    grid, learned = grid_of(model), _learned_grid(model)
    return TokenLayout(special_of(model), *grid, None if grid == learned else learned)


def special_of(model: Model) -> tuple[str, ...]:
    """The names of the tokens that stand before the patches."""
    n_registers = getattr(model.config, "num_register_tokens", 0)
    return CLASS, *(register(place) for place in range(n_registers))


def _learned_grid(model: Model) -> tuple[int, int]:
    """Rows and columns of the learned position embeddings, whatever the size of images."""
    embeddings = model.embeddings.patch_embeddings
    size, patch = two_sizes(embeddings.image_size), two_sizes(embeddings.patch_size)
    return size[0] // patch[0], size[1] // patch[1]


def positions(model: Model) -> int:
    """Return the number of tokens of an image."""
    return layout(model).n_tokens


def position_embedding(model: Model) -> Tensor:
    """One position vector for the class token and one for every patch of an image."""
    embeddings, grid = model.embeddings, layout(model)
    # the method asks its first argument for no more than its shape
    shape = 1, 1 + grid.n_patches, model.config.hidden_size
    shaped = embeddings.position_embeddings.new_zeros(()).expand(shape)
    return embeddings.interpolate_pos_encoding(shaped, *two_sizes(model.config.image_size))[0]


def _added(model: Model) -> Tensor:
    """Position vector added to every token; zeros for registers."""
    embedding = position_embedding(model)
    nothing = embedding.new_zeros(len(layout(model).special) - 1, embedding.shape[1])
    return torch.cat([embedding[:1], nothing, embedding[1:]]).detach()


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the position embeddings of a model within a context."""
    added = _added(model)
    return change_output(model.embeddings, lambda out: out - added + change(added))


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return patch_weights(model, parts_of(model.encoder.layer), _network)


def _network(mlp: Model, activation: str) -> FeedForwardWeights:
    """The weights of the feed-forward network, which the giant model gates."""
    return (
        gated_network(mlp, "silu") if hasattr(mlp, "gate_proj") else plain_network(mlp, activation)
    )


def parts_of(layers: Iterable[Model]) -> tuple[PatchLayer, ...]:
    """The modules of every layer."""
    return tuple(
        PatchLayer(
            module=layer,
            attention=layer.attention,
            attention_norm=layer.norm1,
            attention_output=layer.layer_scale1,
            feed_forward=layer.mlp,
            feed_forward_norm=layer.norm2,
            attention_factor=layer.layer_scale1.lambda1,
            feed_forward_factor=layer.layer_scale2.lambda1,
        )
        for layer in layers
    )


def class_logits(classifier: Model, hidden: Tensor) -> Tensor:
    """Logits over the classes, from the last hidden states of the class token and of all
    patches."""
    n_special = len(layout(classifier.base_model).special)
    of_patches = hidden[:, n_special:].mean(dim=1)
    return classifier.classifier(torch.cat([hidden[:, 0], of_patches], dim=1))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return patch_parts(model, parts_of(model.encoder.layer))


def word_embeddings(model: Model, inputs: dict[str, Tensor]) -> Tensor:
    """Embeddings of the special tokens and of the patches."""
    embeddings = model.embeddings
    registers = getattr(embeddings, "register_tokens", embeddings.cls_token[:, :0])
    return patch_words(model, inputs, special=(embeddings.cls_token, registers))
