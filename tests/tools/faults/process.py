"""Commands of precompute, each in a process of its own with an injected fault."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 300.0  # seconds
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["precompute.run", "precompute.jobs.workers"])
Happening = Callable[[], object]
"""What a process does to itself before it carries out its command."""


class Wrong(Exception):
    """A fault with a forbidden outcome."""


@dataclass(frozen=True)
class Ended:
    """Outcome of a process: its exit status, below 0 if a signal ended it, and its stderr."""

    status: int
    stderr: str

    @property
    def manner(self) -> str:
        """Outcome in a word or two, if it is allowed for a run.

        Raises:
            Wrong: it crashed, or wrote nothing.
        """
        if self.status == 0:
            return "done all the same"
        if self.status == -signal.SIGKILL:
            return "killed"
        if self.status == 1 and "Traceback" not in self.stderr and self.stderr.strip():
            return "one line, status 1"
        raise Wrong(f"ended with status {self.status}:\n{self.stderr[-3000:]}")


def nothing() -> None:
    """Do nothing: a run without a fault."""


class Running:
    """A started command that writes its output to `log`."""

    def __init__(self, arguments: list[str], log: Path, happening: Happening = nothing) -> None:
        self._log = log
        self._process = _CONTEXT.Process(target=_carry_out, args=(arguments, log, happening))
        self._process.start()

    def ended(self) -> Ended:
        """Wait for the process, and return its outcome.

        Raises:
            Wrong: it goes on for minutes.
        """
        deadline = time.monotonic() + PATIENCE
        self._process.join(PATIENCE)
        if time.monotonic() > deadline:
            self._process.kill()
            raise Wrong(f"still going after {PATIENCE:g} s")
        status = self._process.exitcode
        return Ended(1 if status is None else status, self._log.read_text(errors="replace"))


def _carry_out(arguments: list[str], log: Path, happening: Happening) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(handle, stream.fileno())
    from precompute.__main__ import main

    sys.argv = ["precompute", *arguments]
    happening()
    main()
