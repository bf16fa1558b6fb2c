"""A computation that its reader may give up: it ends between two operations on tensors."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.overrides import TorchFunctionMode

MOMENT = 0.1  # seconds


class _Watched(TorchFunctionMode):
    """Looks up now and then before an operation, until looking up has raised once."""

    def __init__(self, look_up: Callable[[], object]) -> None:
        super().__init__()
        self._look_up, self._is_over = look_up, False
        self._next = time.monotonic() + MOMENT

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if not self._is_over and time.monotonic() >= self._next:
            self._is_over = True  # clean-up is never interrupted
            self._look_up()
            self._is_over, self._next = False, time.monotonic() + MOMENT
        return func(*args, **(kwargs or {}))


@contextmanager
def stoppable(look_up: Callable[[], object]) -> Iterator[None]:
    """Stop a computation at its next operation once `look_up` raises, within a context.

    Args:
        look_up: called once per `MOMENT` at most; its exception ends the computation.
    """
    with _Watched(look_up):
        yield
