"""A process that answers questions one after the other, and is over when its time is."""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

_ROOT = Path(__file__).parents[3]
_TO_OPEN = 60.0  # seconds; with what a busy machine takes to start it


@dataclass(frozen=True)
class Limits:
    """Of a process.

    Attributes:
        seconds: of an answer.
        memory: in bytes.
        letters: of an answer as it is passed on.
    """

    seconds: float
    memory: int
    letters: int


class Ended(Exception):
    """A process was over before it answered: `slow` where its time was, else `ended`."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name


class BoundedProcess:
    """A module that is run by itself and hands `answer_lines` what answers.

    Args:
        module: its dotted name.
        opening: arguments of what it opens.
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

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.__exit__(None, None, None)

    def ask(self, question: Any) -> dict[str, Any]:
        """Return the answer to a question; {"fault": "large"} where it has too many letters.

        Raises:
            Ended: the process is over, and stays so.
        """
        seconds = _TO_OPEN + self._limits.seconds
        alarm = Timer(seconds, self._process.send_signal, [signal.SIGALRM])
        alarm.start()
        try:
            reply = self._reply(question)
        finally:
            alarm.cancel()
        if not reply:
            with self:
                status = self._process.wait()
            raise Ended("slow" if status == -signal.SIGALRM else "ended")
        return json.loads(reply)

    def _reply(self, question: Any) -> str:
        """Return a line; empty where the process is over."""
        questions, replies = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        lines = "".join(f"{json.dumps(line)}\n" for line in (*self._unsaid, question))
        self._unsaid = []
        with suppress(BrokenPipeError):
            questions.write(lines)
            questions.flush()
        return replies.readline()
