"""Which runner carries out the jobs: this process, several of them, or a Ray cluster.

Jobs are independent and yield whole shards, so any runner may stop anywhere, and the next
run goes on whichever runner it takes.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import ClassVar

import torch

from analysis.errors import UnfitModel, UserError
from precompute.jobs.memory import return_freed_memory
from precompute.jobs.plan import Plan
from precompute.jobs.runner import OnProgress, Runner, finish_job, run_local
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel

RAY = "ray==2.60.0"


def runner_for(name: str, workers: int) -> Runner:
    """The runner of a name with a number of workers."""
    if name == "ray":
        return partial(run_ray, workers=workers)
    if workers > 1:
        return partial(run_processes, workers=workers)
    return run_local


@dataclass
class _Worker:
    """What each process keeps between jobs: the plan and a model of its own."""

    plan: Plan
    model: LoadedModel
    here: ClassVar["_Worker"]


def _start(plan: Plan, name: str, device: str, threads: int) -> None:
    return_freed_memory()
    torch.set_num_threads(threads)
    facts = plan.facts
    model = load_model(
        name,
        device=device,
        dtype=facts.dtype,
        segments=facts.segments,
        random_weights=facts.random_weights,
    )
    _Worker.here = _Worker(plan, model)


def _work(index: int) -> int:
    """How many sequences there are in a job that is now finished."""
    plan, model = _Worker.here.plan, _Worker.here.model
    _check_weights(plan, model)
    finish_job(plan, model, index, lambda _: None)
    return len(plan.jobs[index])


def _check_weights(plan: Plan, model: LoadedModel) -> None:
    """What a worker loads by name must be what the run was started with."""
    if model.weights_sha256 != plan.facts.weights_sha256:
        raise UnfitModel(
            f"A worker has weights of {model.name!r} with SHA-256 {model.weights_sha256}, but the "
            f"run was started with {plan.facts.weights_sha256}. Give every worker the same files, "
            "and for --random-weights the same version of torch on the same kind of processor."
        )


def run_processes(
    plan: Plan, model: LoadedModel, jobs: list[int], report: OnProgress, *, workers: int
) -> None:
    """Jobs shared among processes of this machine, each with a model of its own.

    Raises:
        UserError: if a process dies; what is finished stays.
    """
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(plan, model.name, model.device, threads),
    )
    try:
        waiting = [pool.submit(_work, index) for index in jobs]
        for done in as_completed(waiting):
            report(done.result())
    except BrokenProcessPool as error:
        raise UserError(
            "A worker process died, most often for want of memory. Rerun the command with "
            f"fewer than --workers {workers}: finished shards are kept."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_ray(
    plan: Plan, model: LoadedModel, jobs: list[int], report: OnProgress, *, workers: int
) -> None:
    """Jobs shared among actors of a Ray cluster; RAY_ADDRESS names one, else it is this machine.

    The folder of the shards must be one that every node sees.

    Raises:
        UserError: if Ray is not installed.
    """
    try:
        ray = import_module("ray")
        pool_of = import_module("ray.util").ActorPool
    except ImportError as error:
        raise UserError(
            f"Ray is not installed. Install it: python -m pip install {RAY}, "
            "or take --runner local."
        ) from error
    ray.init(include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    gpus = 1 if model.device == "cuda" else 0
    actor = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=2, max_task_retries=2)(_RayWorker)
    try:
        given = ray.put(plan)
        pool = pool_of([actor.remote(given, model.name, model.device) for _ in range(workers)])
        for done in pool.map_unordered(lambda each, index: each.work.remote(index), jobs):
            report(done)
    finally:
        ray.shutdown()


class _RayWorker:
    """One actor: the plan and a model of its own."""

    def __init__(self, plan: Plan, name: str, device: str):
        _start(plan, name, device, 1)

    def work(self, index: int) -> int:
        return _work(index)
