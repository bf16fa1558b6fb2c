"""The server's only process that runs models, started on the first request."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from analysis.errors import UserError
from analysis.messages import Messages

_PROGRAM = "precompute.live.process"
_FOLDER = Path(__file__).parents[3]
_MOMENT = 0.1  # seconds
_TRIES = 2
_ENDED = "The process that runs the model ended. It may need more memory than this machine has."


class Refused(UserError):
    """Raised if the model cannot be run, or not on this input; `kind` is the name of the error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ModelProcess:
    """Client of a model process that ends after some idle time; for one thread at a time."""

    def __init__(self) -> None:
        self._running: _Running | None = None

    def ask(self, *question: Any, look_up: Callable[[], object]) -> Any:
        """Return the result of a function of the model.

        Args:
            question: the model, the name of the function, its positional and its keyword arguments.
            look_up: called now and then during the computation; its exceptions abandon that.

        Raises:
            Refused: the model or the input cannot be used.
            RuntimeError: an error in the program.
        """
        for _ in range(_TRIES):
            self._running = self._running or _Running()
            try:
                kind, found = self._running.answer(question, look_up)
                break
            except EOFError:  # it was idle, or was ended from outside
                self.close()
        else:
            raise Refused("ended", _ENDED)
        if kind == "failed":
            raise RuntimeError(found)
        if kind != "found":
            raise Refused(kind, found)
        return found

    def close(self) -> None:
        """End the process, if there is one."""
        if self._running is not None:
            self._running.close()
        self._running = None


@cache
def model_process() -> ModelProcess:
    """Client of this server's model process."""
    return ModelProcess()


class _Running:
    """A started process, and its messages."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603 – our own program
            [sys.executable, "-m", _PROGRAM],
            cwd=_FOLDER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        answers, questions = self.process.stdout, self.process.stdin
        self.messages = Messages(cast(IO[bytes], answers), cast(IO[bytes], questions))

    def answer(self, question: tuple, look_up: Callable[[], object]) -> tuple[str, Any]:
        """Return the kind of the answer and its content; exceptions of `look_up` pass through."""
        self.messages.send(question)
        try:
            while not self.messages.poll(_MOMENT):
                look_up()
        except BaseException:
            self.messages.send(None)
            self.messages.receive()
            raise
        return self.messages.receive()

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):  # it has ended, and what was sent last is not read
            cast(IO[bytes], self.process.stdin).close()
        self.process.wait()
