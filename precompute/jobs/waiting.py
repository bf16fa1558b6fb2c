"""Queue of jobs in the order of their dependencies."""

from collections.abc import Callable, Iterable, Set
from itertools import islice

from precompute.jobs.plan import Job


class Waiting:
    """Unfinished jobs, each available once the jobs it needs are done.

    Args:
        needs: prerequisites of a job; those that are not among `jobs` are done.
    """

    def __init__(self, jobs: Iterable[Job], needs: Callable[[Job], Set[Job]]):
        self._left = list(jobs)
        self._unfinished = set(self._left)
        self._needs = needs

    def __len__(self) -> int:
        return len(self._unfinished)

    def take(self, most: int) -> list[Job]:
        """Return the next jobs, at most `most`; none if all others wait for running jobs."""
        ready = (job for job in self._left if not self._needs(job) & self._unfinished)
        taken = list(islice(ready, most))
        for job in taken:
            self._left.remove(job)
        return taken

    def put_back(self, job: Job) -> None:
        """Return a failed job to the queue."""
        self._left.append(job)

    def finish(self, job: Job) -> None:
        self._unfinished.remove(job)
