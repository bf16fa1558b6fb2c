"""Local worker processes, and their state between jobs."""

import multiprocessing
import os
import signal
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from threading import Thread
from typing import Any, ClassVar

from analysis.errors import UnfitModel, UserError
from precompute.jobs.memory import return_freed_memory, set_threads
from precompute.jobs.plan import Job, Plan
from precompute.jobs.runner import OnFinished, finish_job
from precompute.jobs.waiting import Waiting
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import modules_of_passes

_SECONDS_BETWEEN_LOOKS = 1.0
"""Longest wait at a time: on Windows a wait does not hear of Ctrl-C."""
_AT_HAND = 2
"""Jobs per process, the running one included, so that none waits for the next."""


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
        _check_model(self.plan, model)
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


def _start_process(plan: Plan, name: str, device: str, threads: int) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    start_worker(plan, name, device, threads)


def _end_with_parent() -> None:
    """End this process when its parent ends: a killed parent cannot stop its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(job: Job) -> None:
    """Run a job."""
    here = _Worker.here
    finish_job(here.plan, lambda: here.model, job)


def _check_model(plan: Plan, model: LoadedModel) -> None:
    """Raise UnfitModel if the worker loads another model than the run was started with."""
    if model.identity != plan.facts.model:
        raise UnfitModel(
            f"A worker has another {model.name!r} than the run was started with: "
            f"{differences(model.identity, plan.facts.model)}. Give every worker the same files "
            "and versions of packages, for --random-weights on the same kind of processor."
        )


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
