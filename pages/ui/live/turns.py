"""Who may run the model: one session at a time, in the order in which they came."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, local

_MOMENT = 0.5  # seconds


class Full(Exception):
    """As many wait as may."""


class NotYourTurn(Exception):
    """The model is to be run by a thread that has not waited for it."""


class Turns:
    """A queue of threads, of which the first runs the model and no more than `most` wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._tickets: list[object] = []
        self._changed = Condition()
        self._own = local()

    def check(self) -> None:
        """Raises `NotYourTurn` unless it is this thread's turn."""
        if not getattr(self._own, "has_turn", False):
            raise NotYourTurn

    @contextmanager
    def turn(self, wait: Callable[[int], object]) -> Iterator[None]:
        """This thread's turn, once all who came before it are done.

        Args:
            wait: is told how many come first, every moment until none does; what it raises gives
                the place in the queue up.

        Raises:
            Full: as many wait as may.
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
