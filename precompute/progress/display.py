"""Display of a run on the command line: bars on a terminal, occasional lines elsewhere."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Protocol
from urllib.parse import quote

from precompute import SHARDS
from precompute.progress.account import Account
from precompute.progress.events import Begun, Event, Made, OnEvent
from precompute.stopping import StopLine

SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.5
_APP = Path(__file__).parents[2] / "app.py"
_USUAL_FOLDER = Path("statistics")
_ADDRESS = "http://127.0.0.1:8501"  # of .streamlit/config.toml


class _Display(Protocol):
    def begin(self, stage: Begun) -> None:
        """Show that a stage begins."""

    def look(self) -> None:
        """Show how far it is."""

    def close(self) -> None:
        """Leave the terminal as it was."""


@contextmanager
def displayed(output: Path | None, stop_line: StopLine | None = None) -> Iterator[OnEvent]:
    """Yield a receiver of events that shows them until the run ends, and what it made at the end.

    Args:
        output: the file that the run makes; None if it makes none.
        stop_line: told what is kept if the run is stopped.
    """
    account, ended = Account(), Signal()
    with _display(account) as display:

        def kept() -> str:
            display.close()
            return "" if output is None else kept_line(account, output)

        def receive(event: Event) -> None:
            before = account.stage
            account.receive(event)
            if isinstance(event, Begun) and event.stage != before:
                display.begin(event)
            elif isinstance(event, Made):
                made.append(event)

        def look() -> None:
            while not ended.wait(_SECONDS_BETWEEN_LOOKS):
                display.look()

        if stop_line is not None:
            stop_line.kept = kept
        if output is not None:
            print(f"Making {output}. Ctrl-C stops it, and the same command goes on.", flush=True)
        display.begin(Begun("model"))
        made: list[Made] = []
        looking = Thread(target=look, daemon=True)
        looking.start()
        try:
            yield receive
        finally:
            ended.set()
            looking.join()
    for file in made:
        print(made_line(file, account), flush=True)


@contextmanager
def _display(account: Account) -> Iterator[_Display]:
    if not sys.stderr.isatty():
        yield Lines(account)
        return
    from precompute.progress.bars import bars  # loads rich

    with bars(account) as display:
        yield display


class Lines:
    """A line when a stage begins, and one at most every ten seconds until it ends.

    Args:
        clock: returns seconds.
    """

    def __init__(self, account: Account, clock: Callable[[], float] = time.monotonic):
        self._account, self._clock = account, clock
        self._printed = clock()

    def begin(self, stage: Begun) -> None:
        self._print(begun_line(stage))

    def look(self) -> None:
        if self._clock() - self._printed >= SECONDS_BETWEEN_LINES:
            self._print(f"{self._account.stage}: {state_of(self._account)}")

    def close(self) -> None:
        """Leave it: lines change nothing."""

    def _print(self, line: str) -> None:
        self._printed = self._clock()
        print(line, flush=True)


def begun_line(stage: Begun) -> str:
    """Return the line for the beginning of a stage, with what was found done of it."""
    if not stage.total:
        found = f": {stage.found} sequences found done" if stage.found else ""
        return f"{stage.stage}{found}"
    shards = f" ({stage.found_shards} shards)" if stage.found_shards else ""
    found = f" found done{shards}" if stage.found or stage.found_shards else ""
    return f"{stage.stage}: {stage.found} of {stage.total}{found}"


def state_of(account: Account) -> str:
    """Return how far a stage is: what is done, its time, the time left, and the memory in use."""
    done, left, memory = account.done, account.seconds_left, account.memory
    parts = [f"{done:.{0 if done == int(done) else 1}f}"] if done else []
    if parts and account.total:
        parts = [f"{parts[0]} of {account.total}"]
    parts.append(f"{duration(account.seconds)} so far")
    if left is not None:
        parts.append(f"{duration(left)} left")
    if memory:
        parts.append(f"{memory / 2**30:.2f} GiB")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def made_line(made: Made, account: Account) -> str:
    """Return the last line: what was made, how long each stage took, and where to look."""
    seconds = account.seconds_of
    stages = ", ".join(f"{stage} {duration(n)}" for stage, n in seconds.items() if round(n))
    times = duration(sum(seconds.values())) + (f" ({stages})" if stages else "")
    folder, app = made.file.parent, os.path.relpath(_APP)
    is_usual = folder.absolute() == _USUAL_FOLDER.absolute()
    where = "" if is_usual else f"MIXSCOPE_STATISTICS={shlex.quote(str(_shown(folder)))} "
    return (
        f"{_shown(made.file)}: {made.n_sequences} sequences, {made.n_tokens} tokens, "
        f"{made.n_statistics} statistics in {times}. Look: {where}streamlit run "
        f"{shlex.quote(app)}, {_ADDRESS}/?file={quote(made.file.name)}"
    )


def _shown(path: Path) -> Path:
    """Return a path as seen from the working folder, if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def kept_line(account: Account, output: Path) -> str:
    """Return what a stopped run leaves for the next."""
    kept = account.kept or "what earlier runs have finished"
    return f"Kept in {output.parent / SHARDS}: {kept}."
