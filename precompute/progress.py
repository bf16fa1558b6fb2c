"""Progress of a run: its events, what they add up to, and what shows it.

On a terminal these are rich's bars, elsewhere plain lines; and a note beside the output that pages
read (`pages.services.note`).
"""

import json
import os
import shlex
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any, Literal
from urllib.parse import quote

from precompute import SHARDS
from precompute.stopping import StopLine

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

    Time left is unknown until every worker has finished a job: most of the work is in none before.
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
        """Return the seconds until the stage ends, by its work so far; None if unknown."""
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


_SECONDS_BETWEEN_LINES, _SECONDS_BETWEEN_LOOKS = 10.0, 0.5
_APP = Path(__file__).parents[1] / "app.py"
_ADDRESS = "http://127.0.0.1:8501"  # of .streamlit/config.toml


@contextmanager
def displayed(
    output: Path, stop_line: StopLine | None = None, *, workers: int = 1
) -> Iterator[OnEvent]:
    """Yield a receiver of a run's events that shows them until the run ends, and tells the line of
    a stopped run what is kept."""
    account, ended, made = Account(workers), Signal(), list[Made]()
    shown = Bars(account) if sys.stderr.isatty() else Lines(account)

    def receive(event: Event) -> None:
        before = account.stage
        account.receive(event)
        if isinstance(event, Begun):
            if event.stage != before:
                shown.begin()
        elif isinstance(event, Made):
            made.append(event)
            shown.end()
        elif expected := account.expected:
            shown.say(expected)

    def kept() -> str:
        shown.look()
        shown.close()
        return f"Kept in {output.parent / SHARDS}: {account.kept}."

    def look() -> None:
        with _note(output) as write:
            while not ended.wait(_SECONDS_BETWEEN_LOOKS):
                shown.look()
                write(account)

    if stop_line is not None:
        stop_line.kept = kept
    shown.say(f"Making {output}. Ctrl-C stops it, and the same command goes on.")
    shown.begin()
    looking = Thread(target=look, daemon=True)
    looking.start()
    try:
        yield receive
    finally:
        ended.set()
        looking.join()
        shown.close()
    for file in made:
        print(made_line(file, account), flush=True)


@contextmanager
def _note(output: Path) -> Iterator[Callable[[Account], None]]:
    """Yield a writer of the note, and remove it at the end."""
    from precompute.jobs.shards import unfinished_name  # loads pyarrow

    path = unfinished_name(output.with_name(f"{output.name}.computing"))
    new = path.with_name(f"{path.name}.new")

    def write(account: Account) -> None:
        note = {
            "stage": account.stage,
            "done": account.done,
            "total": account.total,
            "seconds_left": account.seconds_left,
            "machine": socket.gethostname(),
            "process": os.getpid(),
        }
        with suppress(OSError):  # as until the run makes the folder; the run goes on without it
            new.write_text(json.dumps(note), encoding="utf-8")
            new.replace(path)

    try:
        yield write
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


class Lines:
    """Plain lines: one as a stage begins, and one every ten seconds until it ends."""

    def __init__(self, account: Account, clock: Callable[[], float] = time.monotonic):
        self._account, self._clock, self._printed = account, clock, clock()

    def begin(self) -> None:
        self.say(self._account.begun)

    def look(self) -> None:
        if self._clock() - self._printed >= _SECONDS_BETWEEN_LINES:
            self.say(f"{self._account.stage}: {self._account.state}")

    def say(self, line: str) -> None:
        self._printed = self._clock()
        print(line, flush=True)

    def end(self) -> None:
        """Leave the last line: it needs no end."""

    close = end


class Bars:
    """Bars of rich on a terminal, one for each stage."""

    def __init__(self, account: Account):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        self._account, self._task = account, None
        self._progress: Any = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
            redirect_stdout=sys.stdout.isatty(),
        )
        self._progress.start()

    def begin(self) -> None:
        self.end()
        account = self._account
        self._task = self._progress.add_task(
            account.begun, total=account.total or None, completed=account.done, state=""
        )

    def look(self) -> None:
        self._progress.update(self._task, completed=self._account.done, state=self._account.state)

    def say(self, line: str) -> None:
        self._progress.console.print(line, markup=False, highlight=False)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()

    def end(self) -> None:
        """Fill the bar of the stage that ends."""
        if self._task is not None:
            took = duration(self._progress.tasks[-1].elapsed or 0)
            self._progress.update(self._task, total=1, completed=1, state=took)


def made_line(made: Made, account: Account) -> str:
    """Return the last line: what was made, how long each stage took, and where to look."""
    seconds = account.seconds_of
    stages = ", ".join(f"{stage} {duration(n)}" for stage, n in seconds.items() if round(n))
    times = duration(sum(seconds.values())) + (f" ({stages})" if stages else "")
    folder, app = made.file.parent, os.path.relpath(_APP)
    is_usual = folder.absolute() == Path("statistics").absolute()
    where = "" if is_usual else f"MIXSCOPE_STATISTICS={shlex.quote(str(_shown(folder)))} "
    return (
        f"{_shown(made.file)}: {made.n_sequences} sequences, {made.n_tokens} tokens, "
        f"{made.n_statistics} statistics in {times}. Look: {where}streamlit run "
        f"{shlex.quote(app)}, {_ADDRESS}/?file={quote(made.file.name)}"
    )


def _shown(path: Path) -> Path:
    """Return a path as seen from the working folder, if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
