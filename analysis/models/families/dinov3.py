"""DINOv3: DINOv2's layers with queries and keys rotated by the rows and columns of patches.

Neither the class token nor registers are rotated. Networks are plain or gated.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from analysis.models.attention import ModelParts
from analysis.models.capture import change_output
from analysis.models.families import dinov2
from analysis.models.families.patch_encoder import (
    PatchLayer,
    patch_parts,
    patch_weights,
    patch_words,
)
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.layout import TokenLayout, check_grid, grid_of, two_sizes
from analysis.models.parts import (
    activation_named,
    all_inputs,
    gate_named,
    network_of,
    no_class_logits,
    no_logits,
)
from analysis.models.rotary import PatchRotary
from analysis.models.trace import LayerWeights, Model

FAMILIES = ("dinov3_vit",)
LANGUAGE_MODELS: dict[str, str] = {}
CLASSIFIERS: dict[str, str] = {}
logits, class_logits = no_logits, no_class_logits
model_inputs, fit_to_images = all_inputs, dinov2.fit_to_images


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    config = model.config
    (gate_named if config.use_gated_mlp else activation_named)(config.hidden_act)
    check_grid(model)


def layout(model: Model) -> TokenLayout:
    """The class token, the registers, then the patches; nothing is learned for one size."""
    return TokenLayout(dinov2.special_of(model), *grid_of(model))


def positions(model: Model) -> int:
    """Return the number of tokens of an image."""
    return layout(model).n_tokens


def position_embedding(model: Model) -> None:
    """Return None: there are no learned position vectors."""


def _turns(model: Model) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotation of an image's patches."""
    height, width = two_sizes(model.config.image_size)
    weight = model.embeddings.patch_embeddings.weight
    return model.rope_embeddings(weight.new_zeros(()).expand(1, 1, height, width))


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the rotation angles of a model within a context; unrotated tokens have angles of 0."""
    n_special = len(layout(model).special)

    def turned(output: Any) -> Any:
        angles = torch.atan2(output[1], output[0])
        changed = change(torch.cat([angles.new_zeros(n_special, angles.shape[1]), angles]))
        return changed.cos(), changed.sin()

    return change_output(model.rope_embeddings, turned)


def _network(mlp: Model, activation: str) -> FeedForwardWeights:
    gate = getattr(mlp, "gate_proj", None)
    return network_of(mlp.up_proj, mlp.down_proj, activation, gate=gate)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    cosine, sine = _turns(model)
    angles = torch.atan2(sine, cosine)
    rotary = PatchRotary(angles[:, : angles.shape[1] // 2])  # each angle is there twice
    layers = patch_weights(model, _parts(model), _network)
    return tuple(replace(layer, rotary=rotary) for layer in layers)


def _parts(model: Model) -> tuple[PatchLayer, ...]:
    return dinov2.parts_of(model.model.layer)


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return patch_parts(model, _parts(model))


def word_embeddings(model: Model, inputs: dict[str, Tensor]) -> Tensor:
    """Embeddings of the special tokens and of the patches."""
    special = model.embeddings.cls_token, model.embeddings.register_tokens
    return patch_words(model, inputs, special=special)
