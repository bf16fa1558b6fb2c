"""ViT, DeiT, ViT-MSN and I-JEPA: pre-norm encoders with one learned position for every token.

I-JEPA has no class token, DeiT a second one.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import ModelParts
from analysis.models.capture import change_output
from analysis.models.families.patch_encoder import (
    PatchLayer,
    patch_parts,
    patch_weights,
    patch_words,
)
from analysis.models.layout import CLASS, DISTILLATION, TokenLayout, check_grid, grid_of, two_sizes
from analysis.models.parts import activation_named, all_inputs, no_logits
from analysis.models.trace import LayerWeights, Model

FAMILIES = ("vit", "deit", "vit_msn", "ijepa")
LANGUAGE_MODELS: dict[str, str] = {}
CLASSIFIERS: dict[str, str] = dict.fromkeys(
    (
        "ViTForImageClassification",
        "DeiTForImageClassification",
        "DeiTForImageClassificationWithTeacher",
        "ViTMSNForImageClassification",
        "IJepaForImageClassification",
    ),
    "AutoModelForImageClassification",
)
CLASSIFIERS["DeiTForImageClassificationWithTeacher"] = "DeiTForImageClassificationWithTeacher"
"""Loader of each classifier class that a configuration may name."""
logits = no_logits
model_inputs = all_inputs


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    activation_named(model.config.hidden_act)
    check_grid(model)


def fit_to_images(model: Model, size: tuple[int, int]) -> None:
    """Set the height and width of images in pixels; positions were learned for one size alone.

    Raises:
        UnfitModel: the size is another one.
    """
    learned = two_sizes(model.config.image_size)
    if size != learned:
        raise UnfitModel(
            f"The model's positions were learned for images of {learned[0]} × {learned[1]} pixels "
            f"(height × width), and its image processor makes {size[0]} × {size[1]}. Make `size` "
            "or `crop_size` in preprocessor_config.json agree with `image_size` in config.json."
        )


def layout(model: Model) -> TokenLayout:
    """The class token, DeiT's distillation token, then the patches."""
    return TokenLayout(tuple(_special(model).values()), *grid_of(model))


def _special(model: Model) -> dict[str, str]:
    """Map the attribute of each special token of the model to the token's name."""
    known = {"cls_token": CLASS, "distillation_token": DISTILLATION}
    return {place: name for place, name in known.items() if hasattr(model.embeddings, place)}


def positions(model: Model) -> int:
    """Return the number of tokens of an image."""
    return layout(model).n_tokens


def position_embedding(model: Model) -> Tensor:
    """One vector per token, special tokens first."""
    return model.embeddings.position_embeddings.detach()[0]


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the position embeddings of a model within a context."""
    added = position_embedding(model)
    return change_output(model.embeddings, lambda out: out - added + change(added))


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return patch_weights(model, _parts(model))


def _parts(model: Model) -> tuple[PatchLayer, ...]:
    return tuple(
        PatchLayer(
            module=layer,
            attention=layer.attention,
            attention_norm=layer.layernorm_before,
            attention_output=layer.attention.o_proj,
            feed_forward=layer.mlp,
            feed_forward_norm=layer.layernorm_after,
        )
        for layer in model.layers
    )


def class_logits(classifier: Model, hidden: Tensor) -> Tensor:
    """Logits over the classes, from last hidden states."""
    if hasattr(classifier, "distillation_classifier"):
        of_class = classifier.cls_classifier(hidden[:, 0])
        return (of_class + classifier.distillation_classifier(hidden[:, 1])) / 2
    has_class = CLASS in layout(classifier.base_model).special
    return classifier.classifier(hidden[:, 0] if has_class else hidden.mean(dim=1))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace."""
    return patch_parts(model, _parts(model))


def word_embeddings(model: Model, inputs: dict[str, Tensor]) -> Tensor:
    """Embeddings of the special tokens and of the patches."""
    special = tuple(getattr(model.embeddings, attribute) for attribute in _special(model))
    return patch_words(model, inputs, special=special)
