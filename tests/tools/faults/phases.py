"""Phases of a run, and faults at the start of one or at a random moment."""

import json
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any

PHASES = {
    "reading": "precompute.run.indexed",
    "computing": "precompute.jobs.runner.rows_of_batch",
    "writing shards": "precompute.jobs.runner.finish_shard",
    "merging": "precompute.jobs.tables.merge",
    "fitting": "precompute.jobs.tables._fitted",
    "publishing": "precompute.run.build",
}
"""The function that does the work of each."""


def small_and_quick() -> None:
    """Make small jobs and parts, so that a small corpus has several, and write no comments.

    Comments are half of the time of building a small file.
    """
    index: Any = import_module("precompute.corpora.index.write")
    index.JOB_SEQUENCES, index.PART_SEQUENCES = 2, 4
    build: Any = import_module("precompute.store.build")
    build.comment_on = lambda *_: None


def measured(into: Path) -> None:
    """Record the seconds of each phase of a run, from its first start to its last end.

    Also records the bytes of address space beyond those at the start of the process.
    """
    moments: dict[str, list[float]] = {}
    before = address_space("VmSize")

    def note(phase: str) -> None:
        moments.setdefault(phase, []).append(time.monotonic())
        spans = {name: max(times) - min(times) for name, times in moments.items()}
        taken = address_space("VmPeak") - before
        into.write_text(json.dumps({"spans": spans, "memory": taken}))

    for phase, place in PHASES.items():
        _around(place, partial(note, phase), partial(note, phase))


def address_space(name: str) -> int:
    """Bytes of this process, by a name of the system's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [kilobytes] = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kilobytes) * 1024


def at(phase: str, action: Callable[[], object]) -> None:
    """Have a run do something once, when a phase starts."""
    done: list[bool] = []

    def once() -> None:
        if not done:
            done.append(True)
            action()

    _around(PHASES[phase], once, lambda: None)


def killed_after(seconds: float) -> None:
    """Have this process killed in a while."""
    timer = Timer(seconds, partial(os.kill, os.getpid(), signal.SIGKILL))
    timer.daemon = True
    timer.start()


def killed_at_name(number: int, *, is_after: bool) -> None:
    """Have this process killed right before, or right after, a file takes its final name."""
    rename, count = os.replace, iter(range(number, -1, -1))

    def counted(*paths: Path) -> None:
        left = next(count)
        if left == 0 and not is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*paths)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = counted  # pyright: ignore[reportAttributeAccessIssue]


def together(*happenings: Callable[[], object]) -> None:
    """Several things, one after the other."""
    for happening in happenings:
        happening()


def _around(place: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    module, _, name = place.rpartition(".")
    original = getattr(import_module(module), name)

    def watched(*given: object, **named: object) -> object:
        before()
        try:
            return original(*given, **named)
        finally:
            after()

    setattr(import_module(module), name, watched)
