"""Which jobs may begin."""

from collections.abc import Callable, Iterable, Set
from itertools import islice

from precompute.jobs.plan import Job


class Waiting:
    """Jobs that are not done yet, each handed out once what it needs is done.

    Args:
        needs: the jobs that have to be done before another; what is not among `jobs` is done.
    """

    def __init__(self, jobs: Iterable[Job], needs: Callable[[Job], Set[Job]]):
        self._left = list(jobs)
        self._unfinished = set(self._left)
        self._needs = needs

    def __len__(self) -> int:
        return len(self._unfinished)

    def take(self, most: int) -> list[Job]:
        """The next jobs, so many at most; none where all that are left need some that are begun."""
        ready = (job for job in self._left if not self._needs(job) & self._unfinished)
        taken = list(islice(ready, most))
        for job in taken:
            self._left.remove(job)
        return taken

    def put_back(self, job: Job) -> None:
        """A job that was begun in vain."""
        self._left.append(job)

    def finish(self, job: Job) -> None:
        self._unfinished.remove(job)
