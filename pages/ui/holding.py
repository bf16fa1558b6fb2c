"""Context variables with a value for the length of a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Value = TypeVar("_Value")


@contextmanager
def holding(variable: ContextVar[_Value], value: _Value) -> Iterator[None]:
    """Set a variable to a value while the block runs."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
