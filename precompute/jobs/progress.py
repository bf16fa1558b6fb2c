"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

_SECONDS_BETWEEN_LINES = 2.0
OnProgress = Callable[[int], object]
"""Callback with the number of sequences or tables that are newly done."""


class _Lines:
    """Occasional lines with done, total, rate and time left, for logs and for the dashboard."""

    def __init__(self, total: int, already: int, unit: str):
        self.total, self.done, self.already, self.unit = total, already, already, unit
        self.started = self.printed = time.monotonic()

    def update(self, n: int) -> None:
        self.done += n
        now = time.monotonic()
        if now - self.printed >= _SECONDS_BETWEEN_LINES or self.done == self.total:
            self.printed = now
            rate = (self.done - self.already) / max(now - self.started, 1e-9)
            left = (self.total - self.done) / rate if rate else float("inf")
            print(
                f"{self.done}/{self.total} {self.unit}, {rate:.1f} per second, {left:.0f} s left",
                flush=True,
            )


@contextmanager
def progress(total: int, *, already: int = 0, unit: str = "sequences") -> Iterator[OnProgress]:
    """Show progress over a number of units, `already` of them done before."""
    if sys.stderr.isatty():
        with tqdm(total=total, initial=already, unit=f" {unit}", dynamic_ncols=True) as bar:
            yield bar.update
    else:
        yield _Lines(total, already, unit).update
