"""A forward pass as a stream of layers: each is handed over when it is done, then let go."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import ModelParts, attention_observed
from analysis.models.trace import LayerTrace, LayerWeights, Model

OnLayer = Callable[[int, LayerTrace], None]
"""Receiver of a layer's index, counted from 0, and its trace."""
_ROUND_OFF = {torch.float64: 1e-6, torch.float32: 1e-5, torch.bfloat16: 2e-2}
"""Largest difference of a weight from that of the library's `eager`, which rounds to float32."""


def stream_layers(
    model: Model,
    parts: ModelParts,
    layers: tuple[LayerWeights, ...],
    inputs: Mapping[str, Any],
    receive: OnLayer,
) -> None:
    """Run a model once and hand over its layers, first to last.

    Nothing holds a layer after `receive` returns, so that memory does not grow with their number.
    """
    seen: dict[str, Tensor] = {}

    def on_attention(index: int, weights: Tensor, values: Tensor) -> None:
        seen["weights"], seen["values"] = weights, values

    def on_layer(index: int, output: Tensor) -> None:
        layer = LayerTrace(
            weights=layers[index],
            input=seen["input"],
            attention_input=seen.pop("normed", seen["input"]),
            attention=seen.pop("weights"),
            values=seen.pop("values"),
            attention_output=seen.pop("output"),
            output=output,
        )
        seen["input"] = output
        receive(index, layer)

    with torch.inference_mode(), ExitStack() as stack:
        _watch(stack, parts.entrance, partial(seen.__setitem__, "input"))
        for index, part in enumerate(parts.layers):
            if part.norm is not None:
                _watch(stack, part.norm, partial(seen.__setitem__, "normed"))
            _watch(stack, part.output, partial(seen.__setitem__, "output"))
            _watch(stack, part.layer, partial(on_layer, index))
        stack.enter_context(attention_observed(model, parts.layers, on_attention))
        model(**inputs, return_dict=True)


def _watch(stack: ExitStack, module: Model, receive: Callable[[Tensor], None]) -> None:
    """Call a function with the output of a module, each time, within a context."""
    handle = module.register_forward_hook(lambda _module, _inputs, output: receive(output))
    stack.callback(handle.remove)


def check_attention(model: Model, parts: ModelParts, inputs: Mapping[str, Any]) -> None:
    """Raise UnfitModel unless the observed weights are those of the library's `eager`.

    Raises:
        UnfitModel: naming the layer and the difference.
    """
    if parts.layers[0].values is not None:
        return  # they are the weights that the library's own code returns
    ours: list[Tensor] = []
    with torch.inference_mode():
        theirs = model(**inputs, output_attentions=True, return_dict=True).attentions
        with attention_observed(model, parts.layers, lambda *of_layer: ours.append(of_layer[1])):
            model(**inputs, return_dict=True)
    if len(ours) != len(theirs):
        raise UnfitModel(
            f"Of the {len(theirs)} layers of the model {len(ours)} compute attention by the "
            "library's interface; all have to."
        )
    for index, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        difference = (one - other).abs().max().item()
        if not difference <= _ROUND_OFF[one.dtype]:
            raise UnfitModel(
                f"Attention weights of layer {index} differ from those of the library's eager "
                f"attention by {difference:.1e}: its scores have a term that is not covered."
            )
