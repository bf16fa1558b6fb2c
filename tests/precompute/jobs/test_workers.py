"""Runs on a Ray cluster: workers that die, faults of one node, and listening addresses."""

import json
import os
import socket
import subprocess
import sys
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

STATISTICS = ["token_norm"]
N_JOBS = 4


@pytest.fixture
def asked(tmp_path) -> Request:
    """A run of a few jobs."""
    corpus = tmp_path / "lines.jsonl"
    lines = (f"The cat sat, the dog ran {'the mat ' * (n % 5)}." for n in range(N_JOBS * 4))
    corpus.write_text("\n".join(json.dumps({"text": line}) for line in lines))
    output = tmp_path / "local" / "tiny.duckdb"
    return replace(request(tmp_path, output=output, statistics=STATISTICS), corpus=str(corpus))


@pytest.mark.timeout(900)
def test_jobs_of_a_worker_that_dies_are_done_by_one_that_comes_later(asked, tmp_path):
    plan = shards_only(asked)
    expected = shard_rows(plan)
    output = tmp_path / "ray" / "tiny.duckdb"
    words = [asked.model, str(asked.corpus), str(output), *STATISTICS]
    command = [sys.executable, "-m", "tests.precompute.jobs.ray_cluster", *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert ran.returncode == 0, ran.stderr
    begun, reported = json.loads(ran.stdout.splitlines()[-1])
    assert sorted(reported[:N_JOBS]) == [*range(N_JOBS)]
    tables = {table.name for table in plan.passes}
    assert {*reported[N_JOBS:]} == tables, "tables are merged on the cluster too"
    assert begun.count(begun[1]) == 2
    assert shard_rows(shards_only(replace(asked, output=output))) == expected
    assert not list(output.parent.rglob("*.unfinished*"))


def test_a_node_that_lacks_what_the_driver_has_is_named(tmp_path):
    plan: Any = SimpleNamespace(folder=tmp_path / "shards")
    ours = workers.__version__
    for version, message in (
        (
            "0.0.0",
            f"has Mixscope {ours}, and the run was started with 0.0.0. Install the same "
            "version on every node.",
        ),
        (ours, f"does not see {plan.folder}. Give --output in a folder that all nodes share."),
    ):
        worker = RayWorker(plan, "", "", 1, version)  # of which nothing is loaded
        assert refused(UserError, worker.ready) == f"Node {socket.gethostname()} {message}"


@pytest.mark.parametrize("reason", ["timed out", "Connection refused"])
def test_an_address_that_does_not_answer_is_said(reason, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1] if reason == "timed out" else 1
        address = f"ray://127.0.0.1:{port}"
        assert refused(UserError, workers.join_cluster, PlayedRay("ray"), address) == (
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


class PlayedRay(ModuleType):
    """Simulation of the part of Ray that distributes jobs; a job is done when it is waited for."""

    exceptions = type("exceptions", (), {"RayActorError": _Died, "RayTaskError": KeyError})
    shutdown = staticmethod(lambda: None)

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
        failed = KeyError("a long traceback")
        failed.cause = UserError("Line 3 is wrong.")  # pyright: ignore[reportAttributeAccessIssue]
        raise failed

    played = PlayedRay("ray"), job, [0], print
    assert refused(UserError, shared, *played, n_workers=1) == "Line 3 is wrong."
