"""Parts of checkpoints that hold several models, of which one is read, and heads of models."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from transformers import AutoConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.errors import UnfitModel, UserError
from analysis.models.images import reads_images
from analysis.models.trace import Model

_MASKED = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
_OF_TOKENS = (_MASKED, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
_OF_CLASSES = (
    modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
)
"""The library's lists of classes with a head, by model type."""
ENCODER = "encoder"
_NESTED = {"text": "token ids", "vision": "images of one size"}
"""Parts with a configuration of their own, and what each reads."""


def parts_of(family: str) -> tuple[str, ...]:
    """Return the parts of a model type; empty for one model alone."""
    nested: Any = CONFIG_MAPPING[family].sub_configs
    if found := tuple(part for part in _NESTED if f"{part}_config" in nested):
        return found
    return (ENCODER,) if AutoConfig.for_model(family).is_encoder_decoder else ()


def chosen_part(part: str | None, name: str, family: str) -> str | None:
    """Return the part of a model to read: the one asked for, the encoder before a decoder, or None
    for a model without parts.
    """
    parts = parts_of(family)
    if part in parts:
        return part
    if part is None and parts in ((), (ENCODER,)):
        return parts[0] if parts else None
    if not parts:
        raise UserError(
            f"Model {name!r} ({family}) has no parts to choose from. Leave --part {part} out."
        )
    lacking = "" if part is None else f", and has no {part} part"
    raise UserError(
        f"Model {name!r} ({family}) is read one part at a time: {' or '.join(parts)}{lacking}. "
        f"Give {' or '.join(f'--part {known}' for known in parts)}."
    )


def part_of(whole: Model, part: str | None, name: str) -> Model:
    """Return the part of a loaded model that is a model by itself, found by its configuration."""
    if part is None or part == ENCODER:
        return whole.get_encoder() if whole.config.is_encoder_decoder else whole
    nested = getattr(whole.config, f"{part}_config")
    for module in whole.modules():
        if isinstance(module, PreTrainedModel) and module.config is nested:
            if reads_images(module) == (part == "vision") and not nested.is_encoder_decoder:
                return module
            kind = type(module).__name__
            break
    else:
        kind = nested.model_type
    raise UnfitModel(
        f"The {part} part of model {name!r} ({kind}) is not one stack of layers that runs on "
        f"{_NESTED[part]} alone. Give another part, or another model."
    )


def loader_of_head(configuration: dict) -> str | None:
    """Return the class of the model with its head, if the configuration names one that is read."""
    family, named = configuration["model_type"], configuration.get("architectures") or ()
    if AutoConfig.for_model(family).is_encoder_decoder:
        return None
    known = {*_named(family, (*_OF_TOKENS, *_OF_CLASSES))}
    if found := next((name for name in named if name in known), None):
        return found
    pretrained = modeling_auto.MODEL_FOR_PRETRAINING_MAPPING_NAMES.get(family)
    return _MASKED.get(family) if pretrained in named else None


def _named(family: str, lists: tuple[dict, ...]) -> Iterator[str]:
    """Classes of a family in some of the library's lists, where several stand as a tuple."""
    listed = (names.get(family, ()) for names in lists)
    return chain.from_iterable((entry,) if isinstance(entry, str) else entry for entry in listed)


def loader_of_body(configuration: dict) -> str:
    """Return the loader of the model without a head: of encoders without their decoder."""
    family = configuration["model_type"]
    has_decoder = AutoConfig.for_model(family).is_encoder_decoder
    of_texts = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
    return "AutoModelForTextEncoding" if has_decoder and family in of_texts else "AutoModel"


def predicts_tokens(with_head: Model | None) -> bool:
    """Return True if a model has a head that predicts tokens."""
    if with_head is None:
        return False
    return type(with_head).__name__ in _named(with_head.config.model_type, _OF_TOKENS)


def if_exclusive(with_head: Model | None) -> Model | None:
    """Return a model whose head predicts classes; None for regression and for several independent
    labels."""
    if with_head is None or predicts_tokens(with_head):
        return None
    config = with_head.config
    exclusive = config.problem_type in (None, "single_label_classification")
    return with_head if exclusive and config.num_labels > 1 else None
