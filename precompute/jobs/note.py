"""Progress note of a run beside its output, which pages read: `pages.ui.store.note`."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from precompute.jobs.plan import Job, Plan
from precompute.jobs.progress import OnProgress
from precompute.jobs.runner import Runner
from precompute.jobs.shards import unfinished_name
from precompute.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Note:
    """Progress of a run: sequences done and in all, statistics, machine and process."""

    n_done: int
    n_sequences: int
    n_statistics: int
    machine: str
    process: int


@contextmanager
def noting(output: Path, runner: Runner) -> Iterator[Runner]:
    """Wrap a runner so that it keeps a note beside the output until the run ends."""
    output.parent.mkdir(parents=True, exist_ok=True)
    path = unfinished_name(output.with_name(f"{output.name}.computing"))

    def run(plan: Plan, model: LoadedModel, jobs: list[Job], report: OnProgress) -> None:
        sizes = [plan.size(job) for job in jobs if isinstance(job, int)]
        n_sequences = sum(sizes) or len(plan.corpus)
        n_done = 0 if sizes else n_sequences

        def note(n: int) -> None:
            nonlocal n_done
            n_done += n
            _write(
                path,
                Note(n_done, n_sequences, len(plan.statistics), socket.gethostname(), os.getpid()),
            )

        def report_and_note(n: int) -> None:
            report(n)
            note(n if sizes else 0)

        note(0)
        runner(plan, model, jobs, report_and_note)

    try:
        yield run
    finally:
        path.unlink(missing_ok=True)


def _write(path: Path, note: Note) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(asdict(note)), encoding="utf-8")
    os.replace(new, path)
