"""Choice of the runner of jobs: this process, several processes, or a cluster.

Jobs are independent and yield whole shards, so any runner may stop anywhere, and the next run goes
on with any runner.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from analysis.errors import UserError
from precompute.jobs.memory import set_threads
from precompute.jobs.runner import Runner, run_local
from precompute.jobs.workers import run_processes


@contextmanager
def runner_for(
    name: str, workers: int, *, cpus: int | None = None, gpus: float | None = None
) -> Iterator[Runner]:
    """Return the runner of a name with a number of workers, and the CPUs and GPUs of each.

    Raises:
        UserError: GPUs are to be shared out without Ray.
    """
    if name == "ray":
        from precompute.jobs.ray_workers import ray_runner

        with ray_runner(workers=workers, cpus=cpus or 1, gpus=gpus) as run:
            yield run
    elif gpus is not None:
        raise UserError("--gpus-per-worker is for Ray; leave it out, or give --runner ray.")
    elif workers > 1:
        yield partial(run_processes, workers=workers, cpus=cpus)
    else:
        if cpus is not None:
            set_threads(cpus)
        yield run_local
