"""Runs of a model on one text again, from some layer on, with what heads mix changed."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from analysis.models.attended import Attended
from analysis.models.attention import LayerParts, attention_observed
from analysis.models.capture import change_inputs, change_output, first_tensor
from analysis.models.stream import size_of, watch, watch_input
from analysis.models.trace import Model

Change = Callable[[int, Attended, Tensor, Tensor], Tensor]
"""Function from a layer's index, its attention, the input of attention and the mixed values of all
heads side by side, as the output projection is given them, to what it is given instead."""


@dataclass(frozen=True)
class Answer:
    """Last hidden states of some copies of a text, and the scores of what its model predicts.

    `logits` is None for a model without a head.
    """

    hidden: Float[Tensor, "variant token width"]
    logits: Float[Tensor, "variant *token value"] | None


@dataclass(frozen=True)
class RecordedPass:
    """A forward pass over one text whose layers are kept, so that a later one may begin with any.

    `whole` is the model with the head around `model`, or `model` itself without one. `places` are
    the tokens that the head is asked about; None for all that it reads.
    """

    whole: Model
    model: Model
    parts: tuple[LayerParts, ...]
    inputs: Mapping[str, Any]
    places: Tensor | None
    returned: tuple[Any, ...]
    """Outputs of the layers that attend, in the order of their calls."""

    def again(self, first: int, copies: int, change: Change) -> Answer:
        """Run copies of the text from a layer on, which are changed there and in later layers.

        Earlier layers return what they returned before: their modules are called and do nothing.

        Args:
            first: index of the first layer that is computed.
        """
        seen: dict[str, Any] = {}
        numbers = count()

        def forward(original: Callable[..., Any], *given: Any, **named: Any) -> Any:
            seen["index"] = next(numbers)
            if seen["index"] < first:
                return _copied(self.returned[seen["index"]], copies)
            return original(*given, **named)

        def changed(part: LayerParts, mixed: Tensor) -> Tensor:
            read = seen["input" if part.norm is None else "normed"]
            with torch._C.DisableTorchFunction():  # what is computed is no attention of the model's
                return change(seen["index"], seen.pop("attended"), read, mixed)

        with ExitStack() as stack:
            for part in {id(part.layer): part for part in self.parts}.values():
                part.layer.forward = partial(forward, part.layer.forward)
                stack.callback(delattr, part.layer, "forward")
                watch_input(stack, part.layer, partial(seen.__setitem__, "input"))
                if part.norm is not None:
                    watch(stack, part.norm, partial(seen.__setitem__, "normed"))
                stack.enter_context(change_inputs(part.output, partial(changed, part)))
            observed = partial(seen.__setitem__, "attended")
            stack.enter_context(attention_observed(self.model, copies, observed))
            return _answer(self.whole, self.model, _copied(self.inputs, copies), self.places)


def recorded(
    whole: Model,
    model: Model,
    parts: Sequence[LayerParts],
    inputs: Mapping[str, Any],
    places: Tensor | None,
) -> tuple[RecordedPass, Answer]:
    """Run a model once on one text, and keep what its layers return.

    Args:
        places: tokens that the head of a language model is asked about.
    """
    returned: list[Any] = []

    def keep(_module: nn.Module, _given: Any, output: Any) -> None:
        returned.append(output)

    with ExitStack() as stack:
        for layer in {id(part.layer): part.layer for part in parts}.values():
            stack.callback(layer.register_forward_hook(keep).remove)
        stack.enter_context(attention_observed(model, size_of(inputs), lambda _: None))
        answer = _answer(whole, model, inputs, places)
    return RecordedPass(whole, model, tuple(parts), inputs, places, tuple(returned)), answer


def _answer(whole: Model, model: Model, inputs: Mapping[str, Any], places: Tensor | None) -> Answer:
    hidden: list[Tensor] = []

    def chosen(output: Any) -> Any:
        """Keep the last hidden states, and hand on those that the head is asked about."""
        hidden.append(first_tensor(output))
        return output if places is None else _instead(output, hidden[0], hidden[0][:, places])

    with torch.inference_mode(), change_output(model, chosen):
        made = whole(**inputs, return_dict=True)
    return Answer(hidden[0], None if whole is model else made.logits)


def _copied(value: Any, copies: int) -> Any:
    """Return what a layer returned or is given for one text, for copies of the text."""
    if isinstance(value, Tensor):
        is_of_text = value.dim() > 0 and len(value) == 1
        return value.repeat_interleave(copies, dim=0) if is_of_text else value
    if isinstance(value, tuple | list):
        return type(value)(_copied(part, copies) for part in value)
    if isinstance(value, dict):
        return {name: _copied(part, copies) for name, part in value.items()}
    return value


def _instead(value: Any, old: Tensor, new: Tensor) -> Any:
    """Return what a module returned with one tensor replaced."""
    if value is old:
        return new
    if isinstance(value, Mapping):
        return type(value)(**{name: _instead(part, old, new) for name, part in value.items()})
    if isinstance(value, tuple | list):
        return type(value)(_instead(part, old, new) for part in value)
    return value
