"""Main loop of a bounded process: a line in, a line out, within limits enforced by the kernel.

It is for work that cannot be interrupted, takes uncounted memory, or ends its process. It imports
nothing of the pages, so that such a process starts at once.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

Answer = Callable[[Any], dict[str, Any]]


def answer_lines(opened: Callable[..., Answer]) -> None:
    """Answer every line of the standard input by a line; all are JSON.

    The first line holds the limits, and the arguments of `opened`, which returns the function that
    answers the other lines. From then on no file can be written, memory is bounded, and an alarm
    ends the process if an answer takes too long.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with whoever asks it
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no reply
    limits = json.loads(sys.stdin.readline())
    answer = opened(**limits["opening"])
    _shut(limits["memory"])
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, limits["seconds"])
        reply = json.dumps(answer(json.loads(line)))
        fits = len(reply) <= limits["letters"]
        signal.setitimer(signal.ITIMER_REAL, 0)  # no answer is broken off while it is written
        print(reply if fits else json.dumps({"fault": "large"}), file=replies, flush=True)


def _shut(memory: int) -> None:
    for limit, most in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, memory),
    ):
        resource.setrlimit(limit, (most, most))
