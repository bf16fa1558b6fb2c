"""Runs that are stopped, killed, shared among processes or added to end with the same numbers."""

import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import duckdb
import pytest

from analysis.errors import UserError
from analysis.scopes import POST_NORM
from precompute.corpora.index import corpus as index
from precompute.jobs import runner, workers
from precompute.jobs.plan import Facts, Plan
from precompute.jobs.runner import run_local
from precompute.passes import filling
from precompute.request import Request
from precompute.run import run
from tests import processes
from tests.precompute.corpora.whole import on_disk
from tests.precompute.jobs.dying import die
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import request, shard_rows, shards_only
from tests.tiny import tiny_model

EVERY_KIND = [
    *("token_type_mixing", "head_layout", "singular_value"),  # sums, fits, weights
    *("pair_occurrence", "relevance_map", "position_variance"),  # pairs, maps, controls
]


def _tables(path: Path) -> dict[str, list]:
    """Exact rows of all tables, except for times and requests."""
    with duckdb.connect(str(path), read_only=True) as store:
        listed = "select name from stored.manifest where n_rows > 0"
        names = {name for (name,) in store.execute(listed).fetchall()} - {"run", "provenance"}
        return {
            name: store.execute(f"select hash(row) from stored.{name} as row order by 1").fetchall()
            for name in names
        }


@pytest.fixture
def small_jobs(monkeypatch):
    """Two sequences to a shard, so that tiny corpora have several."""
    monkeypatch.setattr(index, "JOB_SEQUENCES", 2)


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_numbers(
    tmp_path, small_jobs, monkeypatch
):
    unstopped, asked = (
        request(tmp_path, output=tmp_path / name / "tiny.duckdb", statistics=EVERY_KIND)
        for name in ("whole", "stopped")
    )
    expected = shard_rows(shards_only(unstopped))
    finished = []

    def stopped(plan, model, index, report, *write):
        if len(finished) == 1:
            raise KeyboardInterrupt
        runner_finish(plan, model, index, report, *write)
        finished.append(index)

    runner_finish = runner.finish_job
    monkeypatch.setattr(runner, "finish_job", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(asked, run_local)
    assert not asked.output.exists()
    monkeypatch.setattr(runner, "finish_job", lambda *a: (finished.append(a[2]), runner_finish(*a)))
    assert shard_rows(shards_only(asked)) == expected
    assert len(finished) == len(set(finished)) > 1, "a finished job was run again"


def test_a_worker_that_dies_is_told(tmp_path, monkeypatch):
    dying = partial(ProcessPoolExecutor, initializer=die)
    monkeypatch.setattr(
        workers, "ProcessPoolExecutor", lambda n, mp_context, **_: dying(n, mp_context)
    )
    monkeypatch.setattr(workers, "_starting_quickly", lambda: get_context("spawn"))
    facts = Facts((("model.weights", "w"),), "float32", 0, POST_NORM)
    plan = Plan(tmp_path / "shards", facts, on_disk((), tmp_path), ())
    asked = plan, tiny_model("bert"), [0], print
    assert refused(UserError, workers.run_processes, *asked, workers=2) == (
        "A worker process died, most often for want of memory. Rerun the command with "
        "fewer than --workers 2: finished shards are kept."
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Request:
    """A run for one statistic, to be asked for more in copies."""
    asked = request(tmp_path_factory.mktemp("finished"), statistics=["token_norm"])
    run(asked, run_local)
    return asked


@pytest.fixture
def asked(finished, tmp_path) -> Request:
    shutil.copytree(finished.output.parent, tmp_path, dirs_exist_ok=True)
    return replace(finished, output=tmp_path / finished.output.name)


def test_a_statistic_added_later_costs_only_itself_and_readers_keep_the_old_file(
    asked, monkeypatch
):
    for name in ("completeness", "token_norm"):
        fail = partial(pytest.fail, f"{name} is computed again")
        monkeypatch.setitem(filling._fillers(), name, lambda _, fail=fail: fail())
    counted = "select count(*) > 0 from head_token"
    with duckdb.connect(str(asked.output), read_only=True) as reader:
        plan = run(replace(asked, statistics=["head_token"]), run_local)
        assert reader.execute(counted).fetchall() == [(False,)]
    assert set(plan.statistics) == {"completeness", "token_norm", "head_token"}
    with duckdb.connect(str(asked.output), read_only=True) as store:
        assert store.execute(counted).fetchall() == [(True,)]
        assert store.execute("select count(*) > 0 from token_norm").fetchall() == [(True,)]
        assert store.execute("select count(*) from singular_value").fetchall() == [(0,)]


@pytest.mark.parametrize("other", [{"limit": 2}, {"segments": "zero"}, {"random_weights": 0}])
def test_what_is_of_another_corpus_input_or_model_is_not_kept(asked, other):
    added = replace(asked, statistics=["singular_value"])
    assert "token_norm" in shards_only(added).statistics
    assert "token_norm" not in shards_only(replace(added, **other)).statistics


def test_killing_the_process_anywhere_loses_nothing(tmp_path, tmp_path_factory):
    asked = request(tmp_path, statistics=EVERY_KIND)
    process = subprocess.Popen(processes.command_of(asked), stdout=subprocess.DEVNULL)
    shards = tmp_path / ".shards"
    deadline = time.monotonic() + 60
    while not list(shards.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert shards.exists()
    run(asked, run_local)
    actual, expected = _tables(asked.output), _tables(shared_store(tmp_path_factory))
    assert len(actual) > 15
    assert [name for name, rows in actual.items() if rows != expected[name]] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers of a process in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    asked = request(tmp_path, statistics=["token_norm"])
    command = processes.command_of(asked, "--workers", "2", "--cpus-per-worker", "1")
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    workers_of = set[int]()
    deadline = time.monotonic() + 200
    while len(workers_of) < 2 and parent.poll() is None and time.monotonic() < deadline:
        workers_of |= processes.workers_of(parent.pid)
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    while any(map(processes.is_running, workers_of)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(workers_of) >= 2
    assert not any(map(processes.is_running, workers_of))
