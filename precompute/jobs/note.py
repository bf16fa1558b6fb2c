"""A note beside an output that says what a run still computes, for those who read it meanwhile."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from precompute.jobs.plan import Plan
from precompute.jobs.progress import OnProgress
from precompute.jobs.runner import Runner
from precompute.jobs.shards import UNFINISHED, is_orphan, unfinished_name

_ENDING = ".computing"


@dataclass(frozen=True)
class Note:
    """How many sequences a run has done, of how many, and how many statistics it computes."""

    n_done: int
    n_sequences: int
    n_statistics: int


def note_beside(output: Path) -> Note | None:
    """What a run that is going on says of an output, if there is one."""
    for path in sorted(output.parent.glob(f".{_name(output)}.*{UNFINISHED}")):
        try:
            if not is_orphan(path.name):
                return Note(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # it ended just now, or is not of this version
            continue
    return None


@contextmanager
def noting(output: Path, runner: Runner) -> Iterator[Runner]:
    """A runner that keeps a note beside the output until all is done."""
    path = unfinished_name(output.with_name(_name(output)))

    def run(plan: Plan, model, jobs: list[int], report: OnProgress) -> None:
        n_sequences = sum(len(plan.jobs[index]) for index in jobs)
        n_done = 0

        def note(n: int) -> None:
            nonlocal n_done
            n_done += n
            _write(path, Note(n_done, n_sequences, len(plan.statistics)))

        def report_and_note(n: int) -> None:
            report(n)
            note(n)

        note(0)
        runner(plan, model, jobs, report_and_note)

    try:
        yield run
    finally:
        path.unlink(missing_ok=True)


def _name(output: Path) -> str:
    return f"{output.name}{_ENDING}"


def _write(path: Path, note: Note) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(asdict(note)), encoding="utf-8")
    os.replace(new, path)
