"""Runs on a Ray cluster: workers that die, faults of one node, and listening addresses."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from analysis.errors import UserError
from precompute.jobs import workers
from precompute.jobs.workers import RayCrew, RayWorker
from precompute.request import Request
from tests.refusals import refused
from tests.small_store import request, shard_rows, shards_only

STATISTICS = ["token_norm", "head_token"]
N_JOBS = 8


@pytest.fixture
def asked(tmp_path) -> Request:
    """A run of a few jobs."""
    corpus = tmp_path / "lines.jsonl"
    lines = (f"The cat sat, the dog ran {'the mat ' * (n % 5)}." for n in range(N_JOBS * 4))
    corpus.write_text("\n".join(json.dumps({"text": line}) for line in lines))
    output = tmp_path / "local" / "tiny.duckdb"
    return replace(request(tmp_path, output=output, statistics=STATISTICS), corpus=str(corpus))


def _python(*command: str) -> str:
    asked = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=900)
    assert asked.returncode == 0, asked.stderr
    return asked.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_jobs_of_a_worker_that_dies_are_done_by_one_that_comes_later(asked, tmp_path):
    plan = shards_only(asked)
    expected = shard_rows(plan)
    output = tmp_path / "ray" / "tiny.duckdb"
    words = [asked.model, str(asked.corpus), str(output), *STATISTICS]
    lines = _python("-m", "tests.precompute.jobs.ray_cluster", *words).splitlines()
    begun, reported = json.loads(lines[-1])
    assert sorted(reported[:N_JOBS]) == [*range(N_JOBS)]
    tables = {table.name for table in plan.passes}
    assert {*reported[N_JOBS:]} == tables, "tables are merged on the cluster too"
    assert begun.count(begun[1]) == 2
    assert shard_rows(shards_only(replace(asked, output=output))) == expected
    assert not list(output.parent.rglob("*.unfinished*"))


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            "0.0.0",
            "has Mixscope {ours}, and the run was started with 0.0.0. Install the same version on "
            "every node.",
        ),
        (
            workers.__version__,
            "does not see {folder}. Give --output in a folder that all nodes share.",
        ),
    ],
)
def test_a_node_that_lacks_what_the_driver_has_is_named(tmp_path, version, message):
    plan: Any = SimpleNamespace(folder=tmp_path / "shards")
    worker = RayWorker(plan, "", "", 1, version)  # of which nothing is loaded
    node = f"Node {socket.gethostname()} "
    said = node + message.format(ours=workers.__version__, folder=plan.folder)
    assert refused(UserError, worker.ready) == said


@pytest.mark.parametrize(
    ("answer", "scheme", "reason"),
    [
        (None, "ray://", "timed out"),
        (b"HTTP/1.1 400 Bad Request", "", "what is there is no server of Ray"),
        (b"\0\0\0\4\0\0\0\0\0", "", "nobody is there"),
        (b"", "", "Connection refused"),
    ],
)
def test_an_address_that_does_not_answer_is_said(answer, scheme, reason, monkeypatch):
    class Ray(ModuleType):
        shutdown = staticmethod(lambda: None)

        @staticmethod
        def init(**_):
            raise ConnectionError("nobody is there\nat all")

    def answer_once() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(answer)

    monkeypatch.setattr(workers, "_SECONDS", 0.2 if answer is None else 60.0)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
        if answer == b"":
            address = "127.0.0.1:1"
        elif answer is not None:
            pool.submit(answer_once)
        monkeypatch.setitem(os.environ, "RAY_ADDRESS", address)
        cluster = workers.joined_cluster(Ray("ray"))
        assert refused(UserError, cluster.__enter__) == (
            f"No Ray cluster answers at RAY_ADDRESS={address} ({reason}). Start one (ray start "
            "--head), or unset RAY_ADDRESS to use this machine alone."
        )


def test_a_cluster_of_its_own_is_on_loopback_alone(monkeypatch):
    """Ray decides this by its environment as it is imported."""
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    for address, expected in (("127.0.0.1:1", None), (None, "0")):
        monkeypatch.setattr(os, "environ", {"RAY_ADDRESS": address} if address else {})
        workers.ray_module()
        assert os.environ.get("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER") == expected


def test_what_ray_needs_and_what_is_for_ray_alone_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert refused(UserError, workers.ray_module) == (
        f"Ray is not installed. Install it: python -m pip install {workers.RAY}, "
        "or take --runner local."
    )
    assert refused(UserError, workers.runner_for("local", 2, gpus=0.5).__enter__) == (
        "--gpus-per-worker is for Ray; leave it out, or give --runner ray."
    )


class _Died(Exception):
    """Error of a simulated Ray for a worker that died."""


class _Failed(Exception):
    """Error of a simulated Ray for a job that raised."""


class PlayedRay(ModuleType):
    """Simulation of the part of Ray that distributes jobs; a job is done when it is waited for."""

    exceptions = type("exceptions", (), {"RayActorError": _Died, "RayTaskError": _Failed})

    @staticmethod
    def wait(waiting, timeout):
        return waiting[:1], waiting[1:]

    @staticmethod
    def get(ended):
        return ended()

    def worker(self, job):
        """Worker that runs its jobs by `job`."""

        class Method:
            def __init__(self, call):
                self.remote = lambda *given: lambda: call(*given)

        return type("Worker", (), {"ready": Method(lambda: None), "work": Method(job)})()


def shared(ray, job, jobs, on_finished, *, n_workers):
    """Distribute independent jobs, each run by `job`."""
    crew = RayCrew(ray, lambda: ray.worker(job), "1 CPU")
    crew.start(n_workers)
    workers.share(jobs, lambda _: frozenset(), crew, on_finished)


def test_a_job_that_kills_every_worker_ends_the_run_and_the_others_are_done():
    done, reported = [], []

    def job(index):
        if index == 1:
            raise _Died("out of memory\nat length")
        done.append(index)

    ray = PlayedRay("ray")
    with pytest.raises(UserError, match=r"3 Ray workers died of one job .number 2., "):
        shared(ray, job, [0, 1, 2, 3], reported.append, n_workers=1)
    assert sorted(done) == [0, 2, 3]
    assert {*reported} == {0, 2, 3}


def test_nodes_that_come_and_go_end_no_run():
    lost = iter(["The actor died because its node has died."] * 20)

    def job(index):
        for reason in lost:
            raise _Died(reason)

    ray, reported = PlayedRay("ray"), []
    shared(ray, job, [1, 2], reported.append, n_workers=2)
    assert {*reported} == {1, 2}


def test_an_error_of_a_worker_is_raised_as_it_was():
    def job(_):
        failed = _Failed("a long traceback")
        failed.cause = UserError("Line 3 is wrong.")  # pyright: ignore[reportAttributeAccessIssue]
        raise failed

    played = PlayedRay("ray"), job, [0], print
    assert refused(UserError, shared, *played, n_workers=1) == "Line 3 is wrong."
