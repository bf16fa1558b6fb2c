"""Hooks that record a model's modules, or change the output of one, within a context."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def change_output(module: nn.Module, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change the module's output within a context."""

    def changed(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        return change(output)

    handle = module.register_forward_hook(changed)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def change_named_inputs(module: nn.Module, change: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Give the module further inputs, made from its first one, within a context."""

    def changed(_module: nn.Module, given: tuple, named: dict[str, Any]) -> tuple[tuple, dict]:
        return given, named | change(given[0])

    handle = module.register_forward_pre_hook(changed, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
