"""Progress note of a run beside its output, which pages read: `pages.ui.store.note`."""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from precompute.jobs.shards import unfinished_name
from precompute.progress.account import Account
from precompute.progress.events import Advanced, Event, OnEvent

_SECONDS_BETWEEN_NOTES = 1.0


@dataclass(frozen=True)
class Note:
    """Progress of a run: its stage, what is done of it and in all, the seconds left if they are
    known, bytes of memory, machine and process."""

    stage: str
    done: float
    total: int
    seconds_left: float | None
    memory: int
    machine: str
    process: int


@contextmanager
def noting(output: Path, clock: Callable[[], float] = time.monotonic) -> Iterator[OnEvent]:
    """Yield a receiver of events that keeps a note beside the output until the run ends.

    Args:
        clock: returns seconds; of jobs under way a note is written once a second.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    path = unfinished_name(output.with_name(f"{output.name}.computing"))
    account, written = Account(), -_SECONDS_BETWEEN_NOTES

    def note(event: Event) -> None:
        nonlocal written
        account.receive(event)
        if isinstance(event, Advanced) and clock() - written < _SECONDS_BETWEEN_NOTES:
            return
        written = clock()
        _write(path, _note(account))

    try:
        yield note
    finally:
        path.unlink(missing_ok=True)


def _note(account: Account) -> Note:
    return Note(
        account.stage,
        round(account.done, 1),
        account.total,
        account.seconds_left,
        account.memory,
        socket.gethostname(),
        os.getpid(),
    )


def _write(path: Path, note: Note) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(asdict(note)), encoding="utf-8")
    os.replace(new, path)
