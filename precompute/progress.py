"""Progress of a run: its events, and what they add up to. `precompute.display` shows it."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Stage = Literal["model", "proof", "corpus", "weights", "sequences", "tables", "file"]
"""Stages of a run in their order; with --until some are repeated."""
_KEPT = {"weights": "tables of weights", "sequences": "sequences", "tables": "tables"}
"""Stages that leave files for the next run, and what they count."""


@dataclass(frozen=True)
class Begun:
    """A stage begins: its sequences or tables, 0 if unknown; those that were done before the run;
    and what is left in units of time, 0 if unknown."""

    stage: Stage
    total: int = 0
    found: int = 0
    work: float = 0.0


@dataclass(frozen=True)
class Finished:
    """Sequences or tables are finished: their number, their work, and the bytes of their files."""

    size: int = 1
    work: float = 0.0
    n_bytes: int = 0


@dataclass(frozen=True)
class Made:
    """The file of the run is there under its name."""

    file: Path
    n_sequences: int
    n_tokens: int
    n_statistics: int


Event = Begun | Finished | Made
OnEvent = Callable[[Event], object]


def ignore(_: object) -> None:
    """Show nothing."""


class Account:
    """Sum of a run's events so far; another thread may read it.

    Args:
        workers: time left is unknown until so many jobs are finished: before, most of the work
            that was done is in none.
    """

    def __init__(self, workers: int = 1, clock: Callable[[], float] = time.monotonic):
        self._workers, self._clock = workers, clock
        self.seconds_of: defaultdict[str, float] = defaultdict(float)
        self._kept: dict[str, tuple[int, int]] = {}
        self._begin(Begun("model"))

    def _begin(self, stage: Begun) -> None:
        self._stage, self._began = stage, self._clock()
        self.done, self._n_jobs, self._work, self._n_bytes = stage.found, 0, 0.0, 0

    def receive(self, event: Event) -> None:
        """Add an event."""
        if isinstance(event, Finished):
            self.done += event.size
            self._work += event.work
            self._n_bytes += event.n_bytes
            self._n_jobs += 1
        else:
            self.seconds_of[self.stage] += self.seconds
            self._begin(event if isinstance(event, Begun) else self._stage)
        if self.stage in _KEPT:
            self._kept[self.stage] = self.done, self.total

    @property
    def stage(self) -> Stage:
        return self._stage.stage

    @property
    def total(self) -> int:
        """Return the sequences or tables of the stage; 0 if their number is unknown."""
        return self._stage.total

    @property
    def seconds(self) -> float:
        """Return the seconds since the stage began."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds until the stage ends, by what its work took so far; None if
        unknown."""
        if not self._work or self._n_jobs < self._workers:
            return None
        return self.seconds * max(0.0, self._stage.work - self._work) / self._work

    @property
    def begun(self) -> str:
        """Return the stage, and how much of it was found done."""
        found = f"{self._stage.found} of {self.total}" if self.total else self._stage.found
        return f"{self.stage}: {found} found done" if self._stage.found else self.stage

    @property
    def state(self) -> str:
        """Return how far the stage is: what is done, its time, and the time left."""
        parts = [f"{self.done} of {self.total}" if self.total else f"{self.done}"] * bool(
            self.total or self.done
        )
        parts.append(f"{duration(self.seconds)} so far")
        if self.seconds_left is not None:
            parts.append(f"{duration(self.seconds_left)} left")
        return ", ".join(parts)

    @property
    def expected(self) -> str | None:
        """Return what the first jobs make one expect of the stage, once they have finished."""
        is_first = self._n_jobs == self._workers and self.done < self.total
        if not is_first or self.seconds_left is None or not self._n_bytes:
            return None
        from rich.filesize import decimal

        size = self._n_bytes * self.total // (self.done - self._stage.found)
        return (
            f"By the first jobs, the {self.stage} take about {duration(self.seconds_left)} more "
            f"and {decimal(size)} of shards in all; tables and the file come on top."
        )

    @property
    def kept(self) -> str:
        """Say what the next run of the same command will find done."""
        counts = [f"{n} of {of} {_KEPT[stage]}" for stage, (n, of) in self._kept.items() if of]
        return ", ".join(counts) or "what earlier runs have finished"


def duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
