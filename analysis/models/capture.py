"""Hooks that record a model's modules, or change the output of one, within a context."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from analysis.errors import UnfitModel


def first_tensor(value: Any) -> Any:
    """Return the first tensor of reals in nested tuples and mappings; None without one."""
    if isinstance(value, Tensor):
        return value if value.is_floating_point() else None
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        return next((found for part in value if (found := first_tensor(part)) is not None), None)
    return None


@contextmanager
def unchanged(model: nn.Module) -> Iterator[None]:
    """Bring back all attributes of a model's modules and configurations after a context.

    Some modules keep what they last computed, and the library leaves hooks behind.

    Raises:
        UnfitModel: other modules were put in place.
    """
    modules = [*model.modules()]
    holders = {id(held): vars(held) for m in modules for held in (m, getattr(m, "config", m))}
    inner = [part for held in holders.values() for part in held.values() if isinstance(part, dict)]
    before = [(held, dict(held)) for held in (*holders.values(), *inner)]
    try:
        yield
        if [*model.modules()] != modules:
            raise UnfitModel(f"{type(model).__name__} puts other modules in place as it runs.")
    finally:
        for held, content in before:
            held.clear()
            held.update(content)


@contextmanager
def change_output(module: nn.Module, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change the module's output within a context."""

    def changed(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        return change(output)

    with module.register_forward_hook(changed):
        yield


@contextmanager
def change_named_inputs(module: nn.Module, change: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Give the module further inputs, made from its first one, within a context."""

    def changed(_module: nn.Module, given: tuple, named: dict[str, Any]) -> tuple[tuple, dict]:
        return given, named | change(given[0])

    with module.register_forward_pre_hook(changed, with_kwargs=True):
        yield


@contextmanager
def change_inputs(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Change the first tensor that a module is given, at each call within a context."""

    def changed(_module: nn.Module, given: tuple, named: dict[str, Any]) -> tuple[tuple, dict]:
        old = first_tensor((*given, *named.values()))
        new = change(old)
        plain = tuple(new if value is old else value for value in given)
        return plain, {name: new if value is old else value for name, value in named.items()}

    with module.register_forward_pre_hook(changed, with_kwargs=True):
        yield


@contextmanager
def change_first_input(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Change the first tensor that a module is given, at its first call within a context."""
    left = [change]

    def once(given: Tensor) -> Tensor:
        return left.pop()(given) if left else given

    with change_inputs(module, once):
        yield
