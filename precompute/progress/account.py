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
    Planned,
)

KEPT = {"weights": "tables of weights", "sequences": "sequences", "tables": "tables"}
"""Stages that leave files for the next run, and what they count."""
_STATM = Path("/proc/self/statm")  # Linux alone has it


class Account:
    """Sum of a run's events so far; other threads may read it.

    Args:
        clock: returns seconds.
        processor: returns seconds of processor time of this process.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.process_time,
    ):
        self._clock, self._processor, self._lock = clock, processor, RLock()
        self._stage, self._began, self._used = Begun("model"), clock(), processor()
        self._planned: dict[str, Mapping[Key, float]] = {}
        self._expected: Mapping[Key, float] = {}
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
                self._began, self._used = self._clock(), self._processor()
                self._shares.clear()
                self._memory.clear()
            if isinstance(event, Planned):
                self._planned = {**event.seconds}
            elif isinstance(event, Begun):
                self._stage, self._n_finished = event, 0
                self._expected = self._planned.pop(event.stage, {})
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
        """Return the seconds until the run ends; None if unknown.

        Of this stage it is what its jobs have cost so far, in proportion to what is left; of later
        ones, what was planned. What sequences take is unknown until they have begun.
        """
        if not self.total or self.stage == "weights":
            return None
        with self._lock:
            costs = self._stage.costs or self._expected or self._stage.sizes
            spent, cost = self._sum(costs), sum(costs.values()) or self.total - self._stage.found
            later = sum(sum(jobs.values()) for jobs in self._planned.values())
        if not spent:
            return None
        return self.seconds * (cost - spent) / spent + later * self._slowness

    @property
    def _slowness(self) -> float:
        """Return the seconds that a second of processor time takes: more than 1 where others use
        the processors too. Workers' processor time is unknown, and so is their slowness."""
        used = self._processor() - self._used
        return 1.0 if self._memory or not used else max(1.0, self.seconds / used)

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
