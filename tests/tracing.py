"""Traces of models that are not loaded, layer by layer."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from analysis.models.adapter import Adapter
from analysis.models.stream import stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model


def traced_layers(
    adapter: Adapter, model: Model, inputs: dict[str, Tensor], layers: tuple[LayerWeights, ...] = ()
) -> tuple[LayerTrace, ...]:
    """Return all layers of a forward pass, with weights that are read now unless they are given."""
    traced: list[LayerTrace] = []
    given: Mapping[str, Any] = adapter.model_inputs(inputs)
    weights = layers or adapter.weights(model)
    parts = adapter.parts(model)
    stream_layers(model, parts, weights, given, lambda _index, layer: traced.append(layer))
    return tuple(traced)
