"""One forward pass on random inputs, with every module's input and output written down."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from textwrap import shorten
from traceback import walk_tb
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from analysis.errors import UnfitModel, UserError
from analysis.models.attended import Attended
from analysis.models.attention import attention_observed
from analysis.models.attention_functions import SoftmaxesOfPairs
from analysis.models.capture import first_tensor, unchanged
from analysis.models.finding.calls import Call, Moment
from analysis.models.stream import size_of
from analysis.models.trace import Model

_PACKAGES = ("analysis", "precompute", "transformers")


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
            raise _stopped(model, error) from error
    if not moments:
        raise UnfitModel(
            f"{type(model).__name__} computes no attention that is softmax(queries · keys + terms) "
            "times values."
        )
    in_order = tuple(sorted(calls, key=lambda call: call.start))
    n_tokens = moments[0].attended.query.shape[2]
    return Probe(in_order, tuple(moments), n_tokens, tuple(softmaxes))


@contextmanager
def trial(model: Model) -> Iterator[None]:
    """Leave a model as it was, and state errors of the library in one sentence, within a context.

    Raises:
        UnfitModel: for an error whose innermost frame, but for those of torch, is the library's.
    """
    try:
        with unchanged(model):
            yield
    except UserError:
        raise
    except Exception as error:  # the library checks little, so that errors are of any kind
        names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
        packages = [name.partition(".")[0] for name in names]
        if [package for package in packages if package in _PACKAGES][-1] != "transformers":
            raise
        raise _stopped(model, error) from error


def _stopped(model: Model, error: Exception) -> UnfitModel:
    """Return the refusal of a model that stops in its trial, and settings that may be why."""
    given = "images" if model.main_input_name == "pixel_values" else "token ids"
    objects = [frame.f_locals.get("self") for frame, _ in walk_tb(error.__traceback__)]
    inside = [type(module).__name__ for module in objects if isinstance(module, nn.Module)]
    message = shorten(str(error), 300, placeholder=" …").rstrip(".") or type(error).__name__
    words = {*re.findall(r"\w+", re.sub(r"dimension \d+", "", message))}
    settings = ", ".join(
        f"{name} = {value}"
        for name, value in model.config.to_dict().items()
        if (value and name in words)
        or (type(value) is int and value > 2 and words & {f"{value}", f"{value / 2:g}"})
        if not name.endswith("token_id")  # rotations are of half a head's size
    )
    return UnfitModel(
        f"{type(model).__name__} cannot be read: models are first run on random {given} alone, in "
        f"float64, and it stops in {inside[-1]}: {message}."
        + (f" Settings of that name or size: {settings}." if settings else "")
    )


def _kind(output: Any) -> str:
    if isinstance(output, Tensor):
        return "tensor"
    return "pair" if isinstance(output, tuple) and len(output) == 2 else "other"
