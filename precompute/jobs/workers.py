"""Runners of jobs: this process, several processes, or a cluster; and the state of a worker.

Jobs are independent and yield whole shards, so any runner may stop anywhere, and the next run goes
on with any runner.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from threading import Thread
from typing import Any, ClassVar

from analysis.errors import UnfitModel, UserError
from precompute.jobs.memory import return_freed_memory, set_threads
from precompute.jobs.plan import Job, Plan
from precompute.jobs.runner import OnFinished, Runner, finish_job, run_local
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import modules_of_passes

_SECONDS_BETWEEN_LOOKS = 1.0
"""Longest wait at a time: on Windows a wait does not hear of Ctrl-C."""
_AT_HAND = 2
"""Jobs per process, the running one included, so that none waits for the next."""


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


@dataclass
class _Worker:
    """State of each process between jobs: the plan, and a model of its own when needed."""

    plan: Plan
    name: str
    device: str
    here: ClassVar["_Worker"]

    @cached_property
    def model(self) -> LoadedModel:
        facts = self.plan.facts
        model = load_model(
            self.name,
            device=self.device,
            dtype=facts.dtype,
            segments=facts.segments,
            random_weights=facts.random_weights,
            part=facts.part,
        )
        if model.identity != facts.model:
            raise UnfitModel(
                f"A worker has another {model.name!r} than the run was started with: "
                f"{differences(model.identity, facts.model)}. Give every worker the same files "
                "and versions of packages, for --random-weights on the same kind of processor."
            )
        return model


def _starting_quickly() -> BaseContext:
    """Return a context of processes forked from one that has imported torch and all passes.

    They start at once, and share the memory of what is imported.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *modules_of_passes()])
    resource_tracker.ensure_running()  # which lets signals through again, so it comes before
    let_through = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()  # neither it nor a worker gets the Ctrl-C of a terminal
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, let_through)
    return context


def start_worker(plan: Plan, name: str, device: str, threads: int) -> None:
    """Store the plan and the model's name in this process, for all jobs."""
    return_freed_memory()
    set_threads(threads)
    _Worker.here = _Worker(plan, name, device)


def _start_process(*given: Any) -> None:
    """Start a worker that ends with its parent: a killed one cannot stop its workers."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    start_worker(*given)


def work(job: Job) -> None:
    """Run a job."""
    here = _Worker.here
    finish_job(here.plan, lambda: here.model, job)


def run_processes(
    plan: Plan,
    model: LoadedModel,
    jobs: list[Job],
    on_finished: OnFinished,
    *,
    workers: int,
    cpus: int | None = None,
) -> None:
    """Share jobs among processes of this machine, each with a model of its own.

    Args:
        cpus: the threads of each; None shares out all processors.

    Raises:
        UserError: if a process dies; finished jobs stay.
    """
    threads = cpus or max(1, (os.cpu_count() or 1) // workers)
    waiting, begun = Waiting(jobs, plan.needs), dict[Future[None], Job]()
    pool = ProcessPoolExecutor(
        workers,
        mp_context=_starting_quickly(),
        initializer=_start_process,
        initargs=(plan, model.name, str(model.model.device), threads),
    )
    try:
        while waiting:
            for job in waiting.take(_AT_HAND * workers - len(begun)):
                begun[pool.submit(work, job)] = job
            for done in wait(begun, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED).done:
                done.result()
                job = begun.pop(done)
                waiting.finish(job)
                on_finished(job)
    except BrokenProcessPool as error:
        raise UserError(
            "A worker process died, most often for want of memory. Rerun the command with "
            f"fewer than --workers {workers}: finished shards are kept."
        ) from error
    except KeyboardInterrupt:
        _kill_workers()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _kill_workers() -> None:
    """Kill the workers, and processes that may be starting one, which would fail with a
    traceback."""
    for process in multiprocessing.active_children():
        process.kill()
    starting: Any = forkserver
    if starting._forkserver._forkserver_pid is not None:
        os.kill(starting._forkserver._forkserver_pid, signal.SIGKILL)


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
