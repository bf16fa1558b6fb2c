"""Account of a run's events: the stage, what is done of it, its time, and what is kept."""

import mmap
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock

from precompute.progress.events import (
    Advanced,
    Begun,
    Event,
    Finished,
    Key,
    Made,
)

KEPT = {"weights": "tables of weights", "sequences": "sequences", "tables": "tables"}
"""Stages that leave files for the next run, and what they count."""
_STATM = Path("/proc/self/statm")  # Linux alone has it


class Account:
    """Sum of a run's events so far; other threads may read it.

    Args:
        clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, RLock()
        self._stage, self._began = Begun("model"), clock()
        self._shares: dict[Key, float] = {}
        self._n_finished = 0
        self._memory: dict[str, int] = {}
        self._kept: dict[str, tuple[int, int]] = {}
        self.seconds_of: defaultdict[str, float] = defaultdict(float)

    def receive(self, event: Event) -> None:
        """Add an event."""
        with self._lock:
            if isinstance(event, Begun | Made):
                self.seconds_of[self._stage.stage] += self.seconds
                self._began = self._clock()
                self._shares.clear()
                self._memory.clear()
            if isinstance(event, Begun):
                self._stage, self._n_finished = event, 0
            elif isinstance(event, Advanced):
                self._shares[event.job] = event.share
                if event.worker:
                    self._memory[event.worker] = event.memory
            elif isinstance(event, Finished):
                self._shares[event.job] = 1
                self._n_finished += self._stage.sizes.get(event.job, 1)
            if self.stage in KEPT:
                self._kept[self.stage] = self._stage.found + self._n_finished, self._stage.total

    @property
    def stage(self) -> str:
        return self._stage.stage

    @property
    def total(self) -> int:
        """Return the sequences or tables of the stage; 0 if their number is unknown."""
        return self._stage.total

    @property
    def done(self) -> float:
        """Return the sequences or tables that are done, those under way by their share."""
        return self._stage.found + self._sum(self._stage.sizes)

    def _sum(self, of_jobs: Mapping[Key, float]) -> float:
        """Return the sum over jobs by their shares; a job that is not named counts 1."""
        with self._lock:
            return sum(of_jobs.get(job, 1) * share for job, share in self._shares.items())

    @property
    def seconds(self) -> float:
        """Return the seconds since the stage began."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds until the stage ends, None if unknown: what its jobs have cost so far,
        in proportion to what is left."""
        if not self.total or self.stage == "weights":
            return None
        with self._lock:
            costs = self._stage.costs or self._stage.sizes
            spent, cost = self._sum(costs), sum(costs.values()) or self.total - self._stage.found
        return self.seconds * (cost - spent) / spent if spent else None

    @property
    def memory(self) -> int:
        """Return the bytes of memory in use by this process and its workers; 0 if unknown."""
        with self._lock:
            return resident_bytes() + sum(self._memory.values())

    @property
    def kept(self) -> str:
        """Say what the next run of the same command will find done."""
        with self._lock:
            counts = [f"{n} of {of} {KEPT[stage]}" for stage, (n, of) in self._kept.items() if of]
        return ", ".join(counts)


def resident_bytes() -> int:
    """Return the bytes of memory of this process; 0 where the system does not tell."""
    return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE if _STATM.exists() else 0
