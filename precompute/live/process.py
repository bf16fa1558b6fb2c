"""Runs models for the readers of a dashboard in a process of its own.

    python -m precompute.live.process DESCRIPTOR

Loading a model would stop every page of a server for seconds, and keep its memory for good. The
process reads questions from the connection that it inherits, and gives each one answer: what a
function of `Rerun` returned, or which error it ended in. A message of None leaves what is being
computed. It ends with the server, or when nothing was asked for a while, which frees its memory.
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
    """The model that was asked for last, one at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._name: Any = None
        self._rerun: Rerun | None = None

    def answer(self, model: dict[str, Any], function: str, given: tuple, named: dict) -> tuple:
        """Return `"found"` and what the function returns, or the kind of an error and its text."""
        try:
            return "found", getattr(self._of(model), function)(*given, **named)
        except Left:
            return "left", ""
        except UserError as error:
            return type(error).__name__, str(error)
        except Exception:
            return "failed", traceback.format_exc()

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


if __name__ == "__main__":
    main()
