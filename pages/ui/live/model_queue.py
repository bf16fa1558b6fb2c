"""Queue for the model: one session at a time, in order of arrival."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, local

_MOMENT = 0.5  # seconds


class Full(Exception):
    """Raised if the queue is full."""


class NotYourTurn(Exception):
    """Raised if a thread is about to run the model without its turn."""


class Turns:
    """Queue of threads: the first runs the model, and at most `most` wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._tickets: list[object] = []
        self._changed = Condition()
        self._own = local()

    def check(self) -> None:
        """Raise `NotYourTurn` unless it is this thread's turn."""
        if not getattr(self._own, "has_turn", False):
            raise NotYourTurn

    @contextmanager
    def turn(self, wait: Callable[[int], object]) -> Iterator[None]:
        """Wait for this thread's turn, and hold it while the block runs.

        Args:
            wait: called with the number of threads ahead, every moment until there are none; if it
                raises, the place in the queue is given up.

        Raises:
            Full: the queue is full.
        """
        ticket = object()
        with self._changed:
            if len(self._tickets) > self.most:
                raise Full
            self._tickets.append(ticket)
            before = self._tickets.index(ticket)
        try:
            while before:
                wait(before)
                with self._changed:
                    self._changed.wait(_MOMENT)
                    before = self._tickets.index(ticket)
            self._own.has_turn = True
            yield
        finally:
            self._own.has_turn = False
            with self._changed:
                self._tickets.remove(ticket)
                self._changed.notify_all()
