"""A forward pass as a stream of layers: each is handed over when it is done, then let go."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from analysis.models.attended import Attended
from analysis.models.attention import LayerParts, attends_by_interface, attention_observed
from analysis.models.capture import first_tensor
from analysis.models.trace import LayerTrace, LayerWeights, Model

OnLayer = Callable[[int, LayerTrace], None]
"""Receiver of a layer's index, counted from 0, and its trace."""


def stream_layers(
    model: Model,
    parts: Sequence[LayerParts],
    layers: Sequence[LayerWeights],
    inputs: Mapping[str, Any],
    receive: OnLayer,
) -> Tensor:
    """Run a model once, hand over its layers, first to last, and return its last hidden states.

    Nothing holds a layer after `receive` returns, so that memory does not grow with their number. A
    module may serve several layers, which are counted as they run.
    """
    seen: dict[str, Tensor] = {}
    numbers = count()

    def on_attention(attended: Attended) -> None:
        seen["weights"], seen["values"] = attended.weights, attended.values

    def on_output(part: LayerParts, output: Tensor) -> None:
        output = output if part.factor is None else output * part.factor
        seen["output"] = output if part.shift is None else output + part.shift

    def on_layer(output: Tensor) -> None:
        index, given = next(numbers), seen.pop("input")
        layer = LayerTrace(
            weights=layers[index],
            input=given,
            attention_input=seen.pop("normed", given),
            attention=seen.pop("weights"),
            values=seen.pop("values"),
            attention_output=seen.pop("output"),
            output=output,
        )
        with torch._C.DisableTorchFunction():  # what is measured is no attention of the model's
            receive(index, layer)

    with torch.inference_mode(), ExitStack() as stack:
        for part in {id(part.layer): part for part in parts}.values():
            watch_input(stack, part.layer, partial(seen.__setitem__, "input"))
            if part.norm is not None:
                watch(stack, part.norm, partial(seen.__setitem__, "normed"))
            watch(stack, part.output, partial(on_output, part))
            watch(stack, part.layer, on_layer)
        stack.enter_context(attention_observed(model, size_of(inputs), on_attention))
        return first_tensor(model(**inputs, return_dict=True))


def watch(stack: ExitStack, module: Model, receive: Callable[[Tensor], object]) -> None:
    """Call a function with the output of a module, each time, within a context."""
    stack.callback(module.register_forward_hook(partial(_returned, receive)).remove)


def _returned(
    receive: Callable[[Tensor], object], _module: nn.Module, _given: tuple, output: Any
) -> None:
    receive(first_tensor(output))


def watch_input(stack: ExitStack, module: Model, receive: Callable[[Tensor], object]) -> None:
    """Call a function with the first tensor that a module is given, within a context."""
    hook = partial(_given, receive)
    stack.callback(module.register_forward_pre_hook(hook, with_kwargs=True).remove)


def _given(
    receive: Callable[[Tensor], object], _module: nn.Module, given: tuple, named: dict[str, Any]
) -> None:
    receive(first_tensor((*given, *named.values())))


def size_of(inputs: Mapping[str, Any]) -> int:
    """Return the number of texts or images of a batch."""
    return len(next(iter(inputs.values())))


@dataclass(frozen=True)
class EagerPass:
    """Attention weights of every layer that attends, and the last hidden states."""

    attention: tuple[Tensor, ...]
    output: Tensor


def eager_pass(model: Model, inputs: Mapping[str, Any]) -> EagerPass | None:
    """Run a model with the library's `eager` attention.

    None for models that compute attention by code of their own: its weights are those observed.
    """
    if not attends_by_interface(model):
        return None
    with torch.inference_mode():
        made = model(**inputs, output_attentions=True, return_dict=True)
    attention = tuple(weights for weights in made.attentions if weights is not None)
    return EagerPass(attention, first_tensor(made))
