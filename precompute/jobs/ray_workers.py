"""Jobs shared among the workers of a Ray cluster, which may come and go.

A worker has one job at a time. When it dies, any free worker repeats that job alone, and a new
worker replaces it as soon as the cluster has room.

Differs: `ray.util.ActorPool` and Ray's retries bind a job to its worker. Where a node has died and
there is no room for another, that job waits for ever beside free workers (Ray 2.60); and their
errors do not name the job.
"""

import logging
import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.errors import UserError
from precompute import __version__
from precompute.jobs.plan import Job, Plan
from precompute.jobs.runner import OnFinished, Runner
from precompute.jobs.workers import Waiting, start_worker, work
from precompute.models.loaded_model import LoadedModel

RAY = "ray==2.60.0"
_SECONDS = 5.0  # for an address to be reached, and again to answer
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = b"\4"  # the kind of the first frame of an answer, its fourth byte
_MOST_DEATHS = 3
_OF_ITS_NODE = "its node has died"  # in Ray's account of a worker that is not to blame
_SECONDS_BETWEEN_LOOKS, _SECONDS_TILL_NOTICE = 1.0, 15.0


@contextmanager
def ray_runner(*, workers: int, cpus: int = 1, gpus: float | None = None) -> Iterator[Runner]:
    """Share jobs among workers of the cluster at RAY_ADDRESS, or of a local one.

    The cluster is joined with the first jobs and left at the end; workers stay while the plan does.

    Args:
        workers: most workers at a time; fewer where the cluster has room for fewer.
        cpus: the threads of each, reserved in the cluster.
        gpus: its share of a GPU; None is a whole one if the model is on a GPU here, and none else.

    Raises:
        UserError: Ray is not installed, a job kills every worker that it is given to, or a node
            lacks the folder of the shards, the weights, or this version.
    """
    ray, idle, planned = ray_module(), list[Any](), None

    def run(plan: Plan, model: LoadedModel, jobs: list[Job], on_finished: OnFinished) -> None:
        nonlocal planned
        if not ray.is_initialized():
            cluster.enter_context(joined_cluster(ray))
        if plan is not planned:
            idle.clear()
            planned = plan
        share = float(model.device == "cuda") if gpus is None else gpus
        need = f"{cpus} CPUs" + (f" and {share:g} GPUs" if share else "")
        actor = ray.remote(num_cpus=cpus, num_gpus=share, max_restarts=0, max_task_retries=0)
        folder = plan.folder.absolute()  # a worker may stand in another folder
        name = str(Path(model.name).absolute()) if Path(model.name).is_dir() else model.name
        new_worker = partial(
            actor(_RayWorker).remote,
            ray.put(replace(plan, folder=folder)),
            name,
            "cuda" if share else model.device,
            threads=cpus,
            version=__version__,
        )
        waiting = Waiting(jobs, plan.needs)
        _share(ray, new_worker, waiting, on_finished, workers=workers, need=need, free=idle)

    with ExitStack() as cluster:
        yield run


def _share(
    ray: ModuleType,
    new_worker: Callable[[], Any],
    waiting: Waiting,
    on_finished: OnFinished,
    *,
    workers: int,
    need: str,
    free: list[Any],
) -> None:
    """Run every job on one of several workers, and replace each worker that dies.

    Args:
        free: idle workers, before and after.
    """
    deaths = Counter[Job | None]()
    at_hand: dict[Any, tuple[Any, Job | None]] = {}

    def start() -> None:
        worker = new_worker()
        at_hand[worker.ready.remote()] = worker, None

    def begin() -> None:
        for job in waiting.take(len(free)):
            worker = free.pop()
            at_hand[worker.work.remote(job)] = worker, job

    for _ in range(min(workers, len(waiting)) - len(free)):
        start()
    waited = 0.0
    while waiting:
        begin()
        ended, _ = ray.wait(list(at_hand), timeout=_SECONDS_BETWEEN_LOOKS)
        if not ended and all(job is None for _, job in at_hand.values()):
            waited += _SECONDS_BETWEEN_LOOKS
            if waited == _SECONDS_TILL_NOTICE:
                _say_what_is_missing(ray, need)
        for task in ended:
            worker, job = at_hand.pop(task)
            try:
                _answer(ray, task)
            except ray.exceptions.RayActorError as error:
                deaths[job] += _OF_ITS_NODE not in str(error)
                _check_deaths(job, deaths[job], error)
                if job is not None:
                    waiting.put_back(job)
                start()
                continue
            deaths[None] = 0
            free.append(worker)
            if job is not None:
                waiting.finish(job)
                on_finished(job)


def _answer(ray: ModuleType, ended: Any) -> None:
    """Raise a worker's UserError, if it has raised one."""
    try:
        ray.get(ended)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise error.cause from None
        raise


def _check_deaths(job: Job | None, n: int, error: Exception) -> None:
    if n < _MOST_DEATHS:
        return
    reason = str(error).strip().splitlines()[0]
    death = "died before they were ready" if job is None else f"died of one job ({_named(job)})"
    raise UserError(
        f"{n} Ray workers {death}, most often for want of memory ({reason}). Rerun the command "
        "with fewer --workers or more --cpus-per-worker: finished shards are kept."
    ) from error


def _named(job: Job) -> str:
    return f"number {job + 1}" if isinstance(job, int) else job


def _say_what_is_missing(ray: ModuleType, need: str) -> None:
    has = {kind: f"{n:g}" for kind, n in ray.cluster_resources().items() if kind in ("CPU", "GPU")}
    there = ", ".join(f"{n} {kind}s" for kind, n in sorted(has.items())) or "none"
    print(
        f"Waiting for room for a worker ({need}); the whole cluster has: {there}.",
        file=sys.stderr,
        flush=True,
    )


class _RayWorker:
    """One worker with the plan and a model of its own, which it loads when needed."""

    def __init__(self, plan: Plan, name: str, device: str, *, threads: int, version: str):
        self.plan, self.name, self.device = plan, name, device
        self.threads, self.version = threads, version

    def ready(self) -> None:
        """Return once everything that jobs need is there.

        Raises:
            UserError: naming the missing part.
        """
        node = socket.gethostname()
        if self.version != __version__:
            raise UserError(
                f"Node {node} has Mixscope {__version__}, and the run was started with "
                f"{self.version}. Install the same version on every node."
            )
        if not self.plan.folder.exists():
            raise UserError(
                f"Node {node} does not see {self.plan.folder}. Give --output in a folder that "
                "all nodes share."
            )
        start_worker(self.plan, self.name, self.device, self.threads)

    def work(self, job: Job) -> None:
        """Run a job."""
        work(job)


def ray_module() -> ModuleType:
    """Return Ray, imported.

    Raises:
        UserError: it is not installed.
    """
    if "RAY_ADDRESS" not in os.environ:  # read as Ray is imported: all it opens is on loopback then
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        return import_module("ray")
    except ImportError as error:
        raise UserError(
            f"Ray is not installed. Install it: python -m pip install {RAY}, "
            "or take --runner local."
        ) from error


@contextmanager
def joined_cluster(ray: ModuleType) -> Iterator[None]:
    """Join the cluster that RAY_ADDRESS names, or one of this machine that ends with the run.

    Raises:
        UserError: no cluster answers there.
    """
    try:
        _join(ray, os.environ.get("RAY_ADDRESS"))
        yield
    finally:
        ray.shutdown()


def _join(ray: ModuleType, address: str | None) -> None:
    signals: Any = import_module("ray._private.utils")
    set_theirs = signals.set_sigterm_handler
    signals.set_sigterm_handler = lambda _: None  # a run that is stopped ends in its own way
    options = {} if address else {"include_dashboard": False}
    try:
        if address:
            check_answer(address)
        ray.init(
            address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **options
        )
    except (ConnectionError, ValueError) as error:
        raise UserError(
            f"No Ray cluster answers at RAY_ADDRESS={address} ({str(error).splitlines()[0]}). "
            "Start one (ray start --head), or unset RAY_ADDRESS to use this machine alone."
        ) from error
    finally:
        signals.set_sigterm_handler = set_theirs


def check_answer(address: str) -> None:
    """Raise ConnectionError unless a Ray server, which speaks HTTP/2, answers at an address.

    Ray itself waits minutes for an answer.

    Args:
        address: as in RAY_ADDRESS: host:port, ray://host:port, or `auto`.
    """
    if address == "auto":
        services = import_module("ray._private.services")
        address = services.canonicalize_bootstrap_address(address) or address
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return  # Ray reports the fault itself
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") != "0":
                return
            connection.sendall(_GREETING)
            answer = connection.recv(4)
    except OSError as error:
        raise ConnectionError(error.strerror or str(error)) from error
    if answer[3:] != _SETTINGS:
        raise ConnectionError("what is there is no server of Ray")
