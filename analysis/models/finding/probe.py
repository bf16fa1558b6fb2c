"""One forward pass on random inputs, with every module's input and output written down."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from analysis.errors import UnfitModel
from analysis.models.attended import Attended
from analysis.models.attention import attention_observed
from analysis.models.attention_functions import SoftmaxesOfPairs
from analysis.models.capture import first_tensor
from analysis.models.finding.calls import Call, Moment
from analysis.models.stream import size_of
from analysis.models.trace import Model


@dataclass(frozen=True)
class Probe:
    """All calls of modules in a forward pass, and all moments of attention, in their order.

    `softmaxes` are the times of all softmaxes over pairs of tokens, those of attention included.
    """

    calls: tuple[Call, ...]
    moments: tuple[Moment, ...]
    n_tokens: int
    softmaxes: tuple[int, ...] = ()

    def by_token(self, tensor: Tensor) -> Float[Tensor, "batch token column"] | None:
        """Return a tensor with one row of columns for every token; None if it has no such rows."""
        n_texts = self.moments[0].attended.query.shape[0]
        if tensor.dim() == 2 and len(tensor) == n_texts * self.n_tokens:
            tensor = tensor.unflatten(0, (n_texts, self.n_tokens))
        if tensor.dim() < 3 or len(tensor) != n_texts or self.n_tokens not in tensor.shape[1:]:
            return None
        axis = 1 + tensor.shape[1:].index(self.n_tokens)
        return tensor.movedim(axis, 1).flatten(2)


def probe(model: Model, inputs: Mapping[str, Any]) -> Probe:
    """Run a model once and write down everything that its modules are given and return.

    Raises:
        UnfitModel: if it cannot be run so, or no attention was seen.
    """
    calls: list[Call] = []
    moments: list[Moment] = []
    softmaxes: list[int] = []
    open_calls: list[tuple[Model, int, Tensor | None]] = []
    clock = iter(range(10**9))

    def began(module: nn.Module, given: tuple, named: dict[str, Any]) -> None:
        first = first_tensor((*given, *named.values()))
        open_calls.append((module, next(clock), None if first is None else first.clone()))

    def ended(module: nn.Module, _given: tuple, output: Any) -> None:
        if isinstance(output, Tensor) and output.is_complex():
            output = output.real, output.imag
        (_, start, given), returned = open_calls.pop(), first_tensor(output)
        if returned is not None:
            read = returned.new_empty(0) if given is None else given
            calls.append(Call(module, read, returned.clone(), start, next(clock), _kind(output)))

    def attended(seen: Attended) -> None:
        time = next(clock)
        moments.append(Moment(seen, time, time))

    with torch.inference_mode(), ExitStack() as stack:
        for module in model.modules():
            stack.callback(module.register_forward_pre_hook(began, with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(ended).remove)
        stack.enter_context(SoftmaxesOfPairs(lambda: softmaxes.append(next(clock))))
        stack.enter_context(attention_observed(model, size_of(inputs), attended))
        try:
            model(**inputs, return_dict=True)
        except (RuntimeError, ValueError, TypeError, AttributeError, IndexError) as error:
            given = "images" if "pixel_values" in inputs else "token ids"
            (inside, *_) = open_calls[-1]
            raise UnfitModel(
                f"{type(model).__name__} cannot be read: models are first run on random {given}"
                f" alone, in float64, and it stops in {type(inside).__name__}."
            ) from error
    if not moments:
        raise UnfitModel(
            f"{type(model).__name__} computes no attention that is softmax(queries · keys + terms) "
            "times values."
        )
    in_order = tuple(sorted(calls, key=lambda call: call.start))
    n_tokens = moments[0].attended.query.shape[2]
    return Probe(in_order, tuple(moments), n_tokens, tuple(softmaxes))


def _kind(output: Any) -> str:
    if isinstance(output, Tensor):
        return "tensor"
    return "pair" if isinstance(output, tuple) and len(output) == 2 else "other"
