"""The server's only process that runs models, started on the first request."""

import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any, cast

from analysis.errors import UserError
from analysis.messages import Messages

_PROGRAM = "precompute.live.process"
_FOLDER = Path(__file__).parents[2]
_TRIES = 2
_ENDED = "The process that runs the model ended. It may need more memory than this machine has."


class Refused(UserError):
    """Raised if the model cannot be run, or not on this input; `kind` is the name of the error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ModelProcess:
    """Client of a model process that ends after some idle time; others wait while one asks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: _Running | None = None

    @property
    def state(self) -> str:
        """State met by a question: `starting` before the first answer, `waiting` while the model
        runs."""
        is_busy = "waiting" if self._lock.locked() else "running"
        return is_busy if self._running and self._running.has_answered else "starting"

    def begin(self, *question: Any) -> None:
        """Ask a first question beside the caller, whatever the answer, unless a process is there.

        It starts the process and loads the model before a reader needs them.
        """
        if self._running is None and not self._lock.locked():
            Thread(target=self._answer, args=[question], daemon=True).start()

    def ask(self, *question: Any) -> Any:
        """Return the result of a function, by the model, its name and both kinds of arguments.

        Raises:
            Refused: the model or the input cannot be used.
            RuntimeError: an error in the program.
        """
        kind, found = self._answer(question)
        if kind == "failed":
            raise RuntimeError(found)
        if kind != "found":
            raise Refused(kind, found)
        return found

    def _answer(self, question: tuple) -> tuple[str, Any]:
        """Return the answer's kind and content, from a new process if the old one has ended."""
        with self._lock:
            for _ in range(_TRIES):
                self._running = self._running or _Running()
                try:
                    return self._running.answer(question)
                except EOFError:  # it was idle, or was ended from outside
                    self.close()
        return "ended", _ENDED

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
        self._messages = Messages(cast(IO[bytes], answers), cast(IO[bytes], questions))
        self.has_answered = False

    def answer(self, question: tuple) -> tuple[str, Any]:
        """Send a question and return the kind and content of the answer.

        Raises:
            EOFError: the process has ended.
        """
        self._messages.send(question)
        answer = self._messages.receive()
        self.has_answered = True
        return answer

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):  # it has ended, and what was sent last is not read
            cast(IO[bytes], self.process.stdin).close()
        self.process.wait()
