"""Ending of a command by a signal: one line within two seconds, whatever the command was doing."""

import atexit
import os
import shlex
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # of Ctrl-C, and of `kill` and schedulers
_HAS_ALARM = hasattr(signal, "setitimer")  # Windows has none
_GRACE = 1.5
"""Seconds for cleaning up after a signal. Some calls do not hear of signals until they return."""


@dataclass
class StopLine:
    """Line that a command prints when it is stopped; whoever runs sets `kept`."""

    kept: Callable[[], str] = lambda: ""
    said: Lock = field(default_factory=Lock)

    def say(self) -> None:
        """Print the line, unless another thread has."""
        if self.said.acquire(blocking=False):
            kept = f" {self.kept()}".rstrip()
            print(f"Stopped.{kept} Go on: {command_given()}", file=sys.stderr, flush=True)


def stoppable(command: Callable[[StopLine], object]) -> None:
    """Run a command; end it with status 128 + n when the process gets signal n.

    The signal raises KeyboardInterrupt, so that files and processes are cleaned up on the way out.
    The final exception may be another one, as of an interrupted query. Where that takes too long,
    the process ends without: whatever is not finished has no name yet.
    """
    received: list[int] = []
    stop_line = StopLine()

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def stop_soon(lost: "sys.UnraisableHookArgs") -> None:
        """Raise it again if it was raised where nothing can be, as in `__del__`."""
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
        elif _HAS_ALARM:
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, 0.01)

    with _ended_late(stop_line):
        try:
            sys.unraisablehook = stop_soon
            for number in _SIGNALS:
                if signal.getsignal(number) != signal.SIG_IGN:  # as for jobs behind a shell
                    signal.signal(number, stop)
            command(stop_line)
            _ignore_signals()
        except BaseException:
            _ignore_signals()
            if not received:
                raise
            stop_line.say()
            end_quietly(128 + received[0])


@contextmanager
def _ended_late(stop: StopLine) -> Iterator[None]:
    """End the process some time after its first signal, if it is still alive then.

    The system writes the number of a signal into a socket at once, while Python's own handler waits
    for the main thread.
    """
    over = Event()
    heard, written = socket.socketpair()
    written.setblocking(False)
    before = signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)

    def watch() -> None:
        while number := heard.recv(1):
            if number[0] in _SIGNALS and not over.wait(_GRACE):
                stop.say()
                os._exit(128 + number[0])

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        written.close()
        watching.join()
        heard.close()


def command_given() -> str:
    """Return the command line of this process, as it can be given again."""
    program = sys.argv[0]
    if Path(program).name == "__main__.py":
        words = [sys.orig_argv[0], "-m", Path(program).parent.name]
    else:
        name = Path(program).name
        words = [name if shutil.which(name) == program else program]
    return shlex.join([*words, *sys.argv[1:]])


def _ignore_signals() -> None:
    """Ignore signals while the process cleans up at its end."""
    if _HAS_ALARM:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_quietly(status: int) -> NoReturn:
    """End the process after its registered exit functions.

    Python's own steps after these are skipped: it would wait for threads, and libraries would
    report objects that the interrupted work still holds.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(status)
