"""Main loop of a bounded process: a line in, a line out, within limits.

It is for work that cannot be interrupted, takes uncounted memory, or ends its process. It imports
nothing of the pages, so that such a process starts at once.
"""

import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Answer = Callable[[Any], dict[str, Any]]
TOO_SLOW = "Timeout"
"""Beginning of the last line of a process that took too long; every other line is JSON."""


def answer_lines(opened: Callable[..., Answer]) -> None:
    """Answer every line of the standard input by a line; all are JSON.

    The first line holds the limits, and the arguments of `opened`, which returns the function that
    answers the other lines. From then on a watchdog ends the process if an answer takes too long,
    and where the kernel has limits, no file can be written, and memory is bounded.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with whoever asks it
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no reply
    limits = json.loads(sys.stdin.readline())
    answer = opened(**limits["opening"])
    _shut(limits["memory"])
    for line in sys.stdin:
        # needs no interpreter, which the work may hold; its first line begins with `TOO_SLOW`
        faulthandler.dump_traceback_later(limits["seconds"], exit=True, file=replies)
        reply = json.dumps(answer(json.loads(line)))
        fits = len(reply) <= limits["letters"]
        faulthandler.cancel_dump_traceback_later()  # no answer is broken off while it is written
        print(reply if fits else json.dumps({"fault": "large"}), file=replies, flush=True)


def _shut(memory: int) -> None:
    limit("RLIMIT_FSIZE", 0)
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_DATA", memory)


def limit(name: str, most: int) -> None:
    """Set a limit of this process that the kernel enforces, on systems that have such limits."""
    with suppress(ModuleNotFoundError):  # of Windows
        import resource

        resource.setrlimit(getattr(resource, name), (most, most))
