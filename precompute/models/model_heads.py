"""Heads of models: to predict tokens or classes."""

from collections.abc import Iterator
from itertools import chain

from transformers import AutoConfig
from transformers.models.auto import modeling_auto

from analysis.models.trace import Model

_MASKED = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
_OF_TOKENS = (_MASKED, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
_OF_CLASSES = (
    modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
)
"""The library's lists of classes with a head, by model type."""


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
