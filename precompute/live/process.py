"""Process that runs models for the readers of a dashboard.

    python -m precompute.live.process DESCRIPTOR

Loading a model in the server would stop all of its pages for seconds, and keep the memory for good.
The process reads questions from the connection that it inherits, and answers each with the result
of a function of `Rerun`, or with an error. A message of None stops the computation. While no
question waits, it computes the other layers of the last sequence. The process ends with the server,
or after a while without questions, which frees its memory.
"""

import signal
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from analysis.errors import UserError
from precompute.live.one_sequence import Rerun, rerun

IDLE = 600.0  # seconds


class Left(Exception):
    """The reader waits no longer."""


class _Models:
    """The model of the last question, one at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._name: Any = None
        self._rerun: Rerun | None = None

    def answer(self, model: dict[str, Any], function: str, given: tuple, named: dict) -> tuple:
        """Return `"found"` and the function's result, or the kind of an error and its text."""
        try:
            return "found", getattr(self._of(model), function)(*given, **named)
        except Left:
            return "left", ""
        except UserError as error:
            return type(error).__name__, str(error)
        except Exception:
            return "failed", traceback.format_exc()

    def complete(self) -> None:
        """Compute the other layers of the last sequence until the next message arrives."""
        if self._rerun is not None:
            with suppress(Left):
                self._rerun.complete(self._leave_for_message)

    def _leave_for_message(self) -> None:
        if self._connection.poll():
            raise Left

    def _of(self, model: dict[str, Any]) -> Rerun:
        if self._rerun is None or self._name != model:
            self._rerun = None  # two models never take memory at once
            self._rerun, self._name = rerun(**model, look_up=self._look_up), model
        return self._rerun

    def _look_up(self) -> None:
        if self._connection.poll():
            self._connection.recv()
            raise Left


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the server as well
    connection = Connection(int(sys.argv[1]))
    models = _Models(connection)
    with suppress(EOFError, ConnectionError):
        while connection.poll(IDLE):
            question = connection.recv()
            if question is not None:
                connection.send(models.answer(*question))
                models.complete()


if __name__ == "__main__":
    main()
