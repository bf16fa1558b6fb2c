"""Client of a bounded process, which answers one question after the other within limits."""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Timer
from typing import IO, Any, cast

from pages.services.sql_loop import TOO_SLOW

_ROOT = Path(__file__).parents[2]
_TO_OPEN = 60.0  # seconds; with what a busy machine takes to start it


@dataclass(frozen=True)
class Limits:
    """Limits of a bounded process.

    Attributes:
        seconds: of an answer.
        memory: in bytes.
        letters: of an answer as it is passed on.
    """

    seconds: float
    memory: int
    letters: int


class Ended(Exception):
    """Raised if a process ended before its answer: `slow` after its time, or else `ended`."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name


class BoundedProcess:
    """A module run in a process of its own, which passes an answering function to `answer_lines`.

    Args:
        module: its dotted name.
        opening: arguments of its `opened`.
    """

    def __init__(self, module: str, limits: Limits, **opening: Any) -> None:
        self._limits = limits
        self._unsaid = [asdict(limits) | {"opening": opening}]
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=_ROOT,
        )

    def __enter__(self) -> "BoundedProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError):  # of a pipe that nobody reads; Windows has no broken ones
            self._process.__exit__(None, None, None)

    def ask(self, question: Any) -> dict[str, Any]:
        """Return the answer to a question; {"fault": "large"} if it has too many letters.

        Raises:
            Ended: the process has ended, and stays so.
        """
        late = Event()
        alarm = Timer(_TO_OPEN + self._limits.seconds, self._end_late, [late])
        alarm.start()
        try:
            reply = self._reply(question)
        finally:
            alarm.cancel()
        if not reply or reply.startswith(TOO_SLOW):
            self.close()
            raise Ended("slow" if reply or late.is_set() else "ended")
        return json.loads(reply)

    def _end_late(self, late: Event) -> None:
        late.set()
        self._process.kill()

    def _reply(self, question: Any) -> str:
        """Return a line; empty if the process has ended."""
        questions, replies = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        lines = "".join(f"{json.dumps(line)}\n" for line in (*self._unsaid, question))
        self._unsaid = []
        with suppress(OSError):  # of a pipe that nobody reads; Windows has no broken ones
            questions.write(lines)
            questions.flush()
        return replies.readline()
