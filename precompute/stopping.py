"""A command that is asked to stop says so in one line, whatever it was doing."""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # of Ctrl-C, and of `kill` and schedulers
_SOON = 0.01  # seconds


def stoppable(command: Callable[[], object]) -> None:
    """Carry out a command; end it with status 128 + n when the process gets signal n.

    The signal raises KeyboardInterrupt, so that files and processes are put in order on the way
    out. What arrives at the end may be another error, as of a query that was interrupted.
    """
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def stop_soon(lost: "sys.UnraisableHookArgs") -> None:
        """Raise it again if it was raised where nothing can be, as in `__del__`."""
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
            return
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, _SOON)

    try:
        sys.unraisablehook = stop_soon
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # as of what runs behind a shell
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
    """Have none stop what is left to do as the process ends."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_quietly(status: int) -> NoReturn:
    """End the process after what is registered to be done at its end.

    What it would do itself then is left out: it would wait for threads, and libraries would tell of
    what the interrupted work still holds.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(status)
