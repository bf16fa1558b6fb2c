"""Ending of a command by a signal: one line, whatever the command was doing."""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # of Ctrl-C, and of `kill` and schedulers
_SOON = 0.01  # seconds
_HAS_ALARM = hasattr(signal, "setitimer")  # Windows has none


def stoppable(command: Callable[[], object]) -> None:
    """Run a command; end it with status 128 + n when the process gets signal n.

    The signal raises KeyboardInterrupt, so that files and processes are cleaned up on the way out.
    The final exception may be another one, as of an interrupted query.
    """
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def stop_soon(lost: "sys.UnraisableHookArgs") -> None:
        """Raise it again if it was raised where nothing can be, as in `__del__`."""
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
        elif _HAS_ALARM:
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, _SOON)

    try:
        sys.unraisablehook = stop_soon
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # as for jobs behind a shell
                signal.signal(number, stop)
        command()
        _ignore_signals()
    except BaseException:
        _ignore_signals()
        if not received:
            raise
        print("Stopped. Rerun the command to resume; the results are identical.", file=sys.stderr)
        end_quietly(128 + received[0])


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
