"""Events of worker processes, on this machine or others: files in a folder that all can reach.

Each worker has one file, with its latest event; the run's process reads all of them now and then.
"""

import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from precompute.jobs.shards import unfinished_name
from precompute.progress.account import resident_bytes
from precompute.progress.events import Advanced, Event, OnEvent

SECONDS_BETWEEN_LOOKS = 1.0
"""Pause of the run's process between two readings of the folder, and of a worker's writing."""


@contextmanager
def crew_folder(shards: Path) -> Iterator[Path]:
    """Create a folder for the events of this process's workers, and delete it at the end."""
    folder = unfinished_name(shards / "workers")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def events_to(folder: Path, clock: Callable[[], float] = time.monotonic) -> OnEvent:
    """Return a worker's receiver of events: it writes how far a job is, once a second at most.

    Args:
        clock: returns seconds.
    """
    worker = f"{socket.gethostname()}-{os.getpid()}"
    written = -SECONDS_BETWEEN_LOOKS

    def write(event: Event) -> None:
        nonlocal written
        if not isinstance(event, Advanced) or clock() - written < SECONDS_BETWEEN_LOOKS:
            return
        written = clock()
        of_worker = Advanced(event.job, event.share, worker, resident_bytes())
        new = folder / f"{worker}.new"
        with suppress(OSError):  # the run goes on without its news, or has just ended
            new.write_text(json.dumps(asdict(of_worker)), encoding="utf-8")
            new.replace(folder / f"{worker}.json")

    return write


def news(folder: Path) -> Iterator[Advanced]:
    """Yield the latest event of every worker."""
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, ValueError):  # of another machine, not wholly here yet
            yield Advanced(**json.loads(path.read_text(encoding="utf-8")))
