"""Runners of jobs: this process, several processes, or a Ray cluster, whose nodes come and go.

Jobs are independent and yield whole shards, so any runner may stop anywhere, and the next run goes
on with any runner.

Differs: `ray.util.ActorPool` and Ray's retries bind a job to its worker. Where a node has died and
there is no room for another, that job waits for ever beside free workers (Ray 2.60); and their
errors do not name the job.
"""

import logging
import multiprocessing
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Set
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from importlib import import_module
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, ClassVar

from analysis.errors import UnfitModel, UserError
from precompute import __version__
from precompute.jobs.memory import return_freed_memory, set_threads
from precompute.jobs.plan import Job, Plan
from precompute.jobs.runner import OnFinished, Runner, finish_job, run_local
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import modules_of_passes

RAY = "ray==2.60.0"
_SECONDS_BETWEEN_LOOKS, _SECONDS_TILL_NOTICE = 1.0, 15.0
"""Longest wait at a time (on Windows a wait does not hear of Ctrl-C), and for a worker's room."""
_AT_HAND = 2
"""Jobs per process, the running one included, so that none waits for the next."""
_SECONDS = 5.0  # for an address to be reached, and again to answer
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = b"\4"  # the kind of the first frame of an answer, its fourth byte
_OF_ITS_NODE = "its node has died"  # in Ray's account of a worker that is not to blame


def share(
    jobs: list[Job],
    needs: Callable[[Job], Set[Job]],
    crew: "_Processes | RayCrew",
    on_finished: OnFinished,
) -> None:
    """Run every job once those that it needs are done; at the end those whose worker has died."""
    place, ready = {job: place for place, job in enumerate(jobs)}, list[int]()
    left = TopologicalSorter({job: needs(job) & place.keys() for job in jobs})
    left.prepare()
    while left.is_active():
        for job in left.get_ready():
            heappush(ready, place[job])
        while ready and crew.room:
            crew.begin(jobs[heappop(ready) % len(jobs)])
        for job, is_done in crew.ended():
            if is_done:
                left.done(job)
                on_finished(job)
            else:
                heappush(ready, place[job] + len(jobs))


@dataclass
class Worker:
    """State of a worker between jobs: the plan, and a model of its own when needed."""

    plan: Plan
    name: str
    device: str
    threads: int
    here: ClassVar["Worker"]

    @cached_property
    def model(self) -> LoadedModel:
        facts, names = self.plan.facts, ("dtype", "segments", "random_weights", "part")
        settings: Any = {name: getattr(facts, name) for name in names}
        model = load_model(self.name, device=self.device, **settings)
        if model.identity != facts.model:
            raise UnfitModel(
                f"A worker has another {model.name!r} than the run was started with: "
                f"{differences(model.identity, facts.model)}. Give every worker the same files "
                "and versions of packages, for --random-weights on the same kind of processor."
            )
        return model

    def begin(self) -> None:
        """Make this process ready for jobs."""
        return_freed_memory()
        set_threads(self.threads)
        Worker.here = self

    def work(self, job: Job) -> None:
        """Run a job."""
        finish_job(self.plan, lambda: self.model, job)


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


def _start_process(*given: Any) -> None:
    """Start a worker that ends with its parent: a killed one cannot stop its workers."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    Worker(*given).begin()


def work(job: Job) -> None:
    """Run a job in a process that has begun."""
    Worker.here.work(job)


class _Processes:
    """Processes of this machine, each with a model of its own."""

    def __init__(self, pool: ProcessPoolExecutor, workers: int):
        self._pool, self._most = pool, _AT_HAND * workers
        self._begun = dict[Future[None], Job]()

    @property
    def room(self) -> int:
        return self._most - len(self._begun)

    def begin(self, job: Job) -> None:
        self._begun[self._pool.submit(work, job)] = job

    def ended(self) -> Iterator[tuple[Job, bool]]:
        for future in wait(self._begun, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED).done:
            future.result()
            yield self._begun.pop(future), True


def run_processes(
    plan: Plan,
    model: LoadedModel,
    jobs: list[Job],
    on_finished: OnFinished,
    *,
    workers: int,
    cpus: int | None = None,
) -> None:
    """Share jobs among processes, which share all processors unless told how many threads each."""
    threads = cpus or max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(
        workers,
        mp_context=_starting_quickly(),
        initializer=_start_process,
        initargs=(plan, model.name, str(model.model.device), threads),
    )
    try:
        share(jobs, plan.needs, _Processes(pool, workers), on_finished)
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
    """Kill the workers, and the process that starts some, which would fail with a traceback."""
    for process in multiprocessing.active_children():
        process.kill()
    starting: Any = forkserver
    if starting._forkserver._forkserver_pid is not None:
        os.kill(starting._forkserver._forkserver_pid, signal.SIGKILL)


@contextmanager
def ray_runner(*, workers: int, cpus: int = 1, gpus: float | None = None) -> Iterator[Runner]:
    """Share jobs among workers of the cluster at RAY_ADDRESS, or of a local one.

    The cluster is joined with the first jobs and left at the end; workers stay while the plan does.

    Args:
        workers: most workers at a time; fewer where the cluster has room for fewer.
        cpus: the threads of each, reserved in the cluster.
        gpus: its share of a GPU; None is a whole one if the model is on a GPU here, and none else.
    """
    ray, crews = ray_module(), list[tuple[Plan, RayCrew]]()

    def new_crew(plan: Plan, model: LoadedModel) -> RayCrew:
        share_of_gpu = float(model.device == "cuda") if gpus is None else gpus
        need = f"{cpus} CPUs" + (f" and {share_of_gpu:g} GPUs" if share_of_gpu else "")
        resources: Any = {"num_cpus": cpus, "num_gpus": share_of_gpu}
        actor = ray.remote(**resources, max_restarts=0, max_task_retries=0)(RayWorker)
        # a worker may stand in another folder
        given = ray.put(replace(plan, folder=plan.folder.absolute()))
        name = str(Path(model.name).absolute()) if Path(model.name).is_dir() else model.name
        device = "cuda" if share_of_gpu else model.device
        return RayCrew(ray, partial(actor.remote, given, name, device, cpus, __version__), need)

    def run(plan: Plan, model: LoadedModel, jobs: list[Job], on_finished: OnFinished) -> None:
        if not ray.is_initialized():
            cluster.callback(ray.shutdown)
            join_cluster(ray, os.environ.get("RAY_ADDRESS"))
        if not crews or crews[0][0] is not plan:
            crews[:] = [(plan, new_crew(plan, model))]
        crews[0][1].start(min(workers, len(jobs)))
        share(jobs, plan.needs, crews[0][1], on_finished)

    with ExitStack() as cluster:
        yield run


@dataclass
class RayCrew:
    """Workers of a Ray cluster, each with one job at a time and replaced when it dies.

    Its job is then repeated alone by any free worker; a new one begins when the cluster has room.
    """

    ray: ModuleType
    new_worker: Callable[[], Any]
    need: str
    _free: list[Any] = field(default_factory=list)
    _busy: dict[Any, tuple[Any, Job | None]] = field(default_factory=dict)
    _deaths: Counter[Job | None] = field(default_factory=Counter)
    _waited: float = 0.0

    def start(self, workers: int) -> None:
        """Have at least so many workers."""
        for _ in range(workers - len(self._free) - len(self._busy)):
            worker = self.new_worker()
            self._busy[worker.ready.remote()] = worker, None

    @property
    def room(self) -> int:
        return len(self._free)

    def begin(self, job: Job) -> None:
        worker = self._free.pop()
        self._busy[worker.work.remote(job)] = worker, job

    def ended(self) -> Iterator[tuple[Job, bool]]:
        tasks, _ = self.ray.wait(list(self._busy), timeout=_SECONDS_BETWEEN_LOOKS)
        if not tasks and all(job is None for _, job in self._busy.values()):
            self._waited += _SECONDS_BETWEEN_LOOKS
            if self._waited == _SECONDS_TILL_NOTICE:
                _say_what_is_missing(self.ray, self.need)
        for task in tasks:
            worker, job = self._busy.pop(task)
            try:
                self.ray.get(task)
            except self.ray.exceptions.RayActorError as error:
                self._deaths[job] += _OF_ITS_NODE not in str(error)
                _check_deaths(job, self._deaths[job], error)
                self.start(len(self._free) + len(self._busy) + 1)
                is_done = False
            except self.ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, UserError):
                    raise error.cause from None
                raise
            else:
                self._deaths[None] = 0
                self._free.append(worker)
                is_done = True
            if job is not None:
                yield job, is_done


def _check_deaths(job: Job | None, n: int, error: Exception) -> None:
    if n < 3:
        return
    reason = str(error).strip().splitlines()[0]
    named = f"number {job + 1}" if isinstance(job, int) else job
    death = "died before they were ready" if job is None else f"died of one job ({named})"
    raise UserError(
        f"{n} Ray workers {death}, most often for want of memory ({reason}). Rerun the command "
        "with fewer --workers or more --cpus-per-worker: finished shards are kept."
    ) from error


def _say_what_is_missing(ray: ModuleType, need: str) -> None:
    has = {kind: f"{n:g}" for kind, n in ray.cluster_resources().items() if kind in ("CPU", "GPU")}
    there = ", ".join(f"{n} {kind}s" for kind, n in sorted(has.items())) or "none"
    print(
        f"Waiting for room for a worker ({need}); the whole cluster has: {there}.",
        file=sys.stderr,
        flush=True,
    )


@dataclass
class RayWorker(Worker):
    """Worker on a node that may lack what the run needs."""

    version: str

    def ready(self) -> None:
        """Return once everything that jobs need is there."""
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
        self.begin()


def ray_module() -> ModuleType:
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


def join_cluster(ray: ModuleType, address: str | None) -> None:
    """Join the cluster at an address, or one of this machine that ends with the run."""
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
    """Raise ConnectionError unless a Ray server, which speaks HTTP/2, answers at host:port,
    ray://host:port, or `auto`: Ray itself waits minutes for an answer."""
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


@contextmanager
def runner_for(
    name: str, workers: int, *, cpus: int | None = None, gpus: float | None = None
) -> Iterator[Runner]:
    """Return the runner of a name with a number of workers, and the CPUs and GPUs of each."""
    if name == "ray":
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
