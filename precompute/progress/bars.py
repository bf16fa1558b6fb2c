"""Bars of a run on a terminal, one for each stage."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from precompute.progress.account import Account
from precompute.progress.display import begun_line, duration, state_of
from precompute.progress.events import Begun


class _Bars:
    def __init__(self, account: Account, progress: Progress):
        self._account, self._progress = account, progress
        self._task: TaskID | None = None

    def begin(self, stage: Begun) -> None:
        self.end()
        self._task = self._progress.add_task(
            stage.stage, total=stage.total or None, completed=stage.found, state=""
        )
        if stage.found:
            self._progress.console.print(begun_line(stage), highlight=False)

    def look(self) -> None:
        if self._task is not None:
            account = self._account
            self._progress.update(self._task, completed=account.done, state=state_of(account))

    def close(self) -> None:
        self._progress.stop()

    def end(self) -> None:
        """Fill the bar of the stage that ends."""
        if self._task is not None:
            took = duration(self._progress.tasks[-1].elapsed or 0)
            self._progress.update(self._task, total=1, completed=1, state=took)


@contextmanager
def bars(account: Account) -> Iterator[_Bars]:
    """Show bars until the run ends."""
    with Progress(
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        console=Console(stderr=True),
        redirect_stdout=sys.stdout.isatty(),
    ) as progress:
        yield (display := _Bars(account, progress))
        display.end()
