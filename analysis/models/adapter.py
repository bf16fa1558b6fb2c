"""Interface of a model family's adapter, and the registry of families."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from analysis.errors import UnknownName
from analysis.models.attention import ModelParts
from analysis.models.families import (
    bert,
    deberta,
    dinov2,
    dinov3,
    electra,
    experts,
    gemma,
    gpt2,
    gpt_neox,
    llama,
    modernbert,
    olmo2,
    t5,
    vit,
)
from analysis.models.layout import TokenLayout
from analysis.models.trace import LayerWeights, Model


@runtime_checkable
class Adapter(Protocol):
    """Adapter of one family: maps module names to the trace and computes nothing of its own."""

    @property
    def FAMILIES(self) -> tuple[str, ...]: ...

    @staticmethod
    def check(model: Model) -> None: ...

    @staticmethod
    def fit_to_images(model: Model, size: tuple[int, int]) -> None: ...

    @staticmethod
    def layout(model: Model) -> TokenLayout | None: ...

    @staticmethod
    def positions(model: Model) -> int: ...

    @staticmethod
    def position_embedding(model: Model) -> Tensor | None: ...

    @staticmethod
    def changed_positions(
        model: Model, change: Callable[[Tensor], Tensor]
    ) -> AbstractContextManager[None]: ...

    @staticmethod
    def weights(model: Model) -> tuple[LayerWeights, ...]: ...

    @staticmethod
    def parts(model: Model) -> ModelParts: ...

    @staticmethod
    def model_inputs(inputs: dict[str, Tensor]) -> dict[str, Any]: ...

    @staticmethod
    def word_embeddings(model: Model, inputs: dict[str, Tensor]) -> Tensor: ...

    @property
    def LANGUAGE_MODELS(self) -> dict[str, str]: ...

    @staticmethod
    def logits(language_model: Model, hidden: Tensor) -> Tensor: ...

    @property
    def CLASSIFIERS(self) -> dict[str, str]: ...

    @staticmethod
    def class_logits(classifier: Model, hidden: Tensor) -> Tensor: ...


def _by_family(*adapters: Adapter) -> dict[str, Adapter]:
    return {family: adapter for adapter in adapters for family in adapter.FAMILIES}


ADAPTERS = _by_family(
    bert,
    electra,
    deberta,
    modernbert,
    t5,
    gpt2,
    llama,
    olmo2,
    gemma,
    experts,
    gpt_neox,
    vit,
    dinov2,
    dinov3,
)


def adapter_for(family: str) -> Adapter:
    """Return the adapter of a family, by the `model_type` of its configuration.

    Raises:
        UnknownName: naming the families there are.
    """
    if family not in ADAPTERS:
        raise UnknownName("model family", family, ADAPTERS)
    return ADAPTERS[family]
