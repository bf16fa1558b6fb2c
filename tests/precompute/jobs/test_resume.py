"""Runs that are stopped, killed or added to end with the same numbers."""

import os
import re
import shutil
import signal
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
from tests.precompute.corpora.tiny import on_disk
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import fetched, request, shards_only
from tests.tiny import tiny_model

EVERY_KIND = ["token_type_mixing", "head_layout", "singular_value"]  # sums, fits, weights
FEW = ["token_norm"]
STOPPED = re.compile(r"Stopped\.( Kept in .*\.)? Go on: .+\n")
PATIENCE = 300.0  # seconds
Started = subprocess.Popen[str]


def started(asked: Request) -> Started:
    """The command of a run with two workers, in a group of its own, which hears Ctrl-C."""
    command = [sys.executable, "-m", "precompute", "run", "--model", asked.model, "--corpus"]
    command += [str(asked.corpus), "--output", str(asked.output), "--max-tokens", "36"]
    command += ["--device", "cpu", "--statistics", ",".join(asked.statistics or ())]
    return subprocess.Popen(
        [*command, "--workers", "2", "--cpus-per-worker", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        cwd=Path(__file__).parents[3],
    )


def of_process(process: int, file: str) -> str:
    """A file of /proc; empty after the end of the process."""
    try:
        return Path(f"/proc/{process}/{file}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(process: int) -> list[int]:
    return [int(number) for number in of_process(process, f"task/{process}/children").split()]


def starts_workers(run: Started, _shards: Path) -> bool:
    return any("forkserver" in of_process(child, "cmdline") for child in children(run.pid))


def has_workers_and_a_shard(run: Started, shards: Path) -> bool:
    """Return True if there are both workers, forked from a child that only imports, and a shard."""
    workers = [worker for child in children(run.pid) for worker in children(child)]
    return len(workers) == 2 and any(shards.rglob("*.parquet"))


def goes_on(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a run in /proc")
@pytest.mark.parametrize(
    ("phase", "number", "statistics"),
    [
        pytest.param(starts_workers, signal.SIGINT, FEW, id="interrupted as it starts workers"),
        pytest.param(has_workers_and_a_shard, signal.SIGKILL, EVERY_KIND, id="killed by a shard"),
    ],
)
def test_a_stopped_run_leaves_no_process_and_goes_on_to_the_same_numbers(
    phase, number, statistics, tmp_path, tmp_path_factory
):
    """A signal to all of its group leaves one line; one that kills it alone ends its workers."""
    asked = request(tmp_path, statistics=statistics)
    process = started(asked)
    while process.poll() is None and not phase(process, tmp_path / ".shards"):
        time.sleep(0.01)
    if number == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, number)
    said = process.communicate(timeout=PATIENCE)[1]
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert (process.returncode, bool(STOPPED.fullmatch(said))) == (128 + number, True), said
    deadline = time.monotonic() + PATIENCE
    while goes_on(process.pid):
        assert time.monotonic() < deadline, "a process of it goes on"
        time.sleep(0.01)
    run(asked, run_local)
    actual, expected = _tables(asked.output), _tables(shared_store(tmp_path_factory))
    assert {*actual} > {*statistics} - {"head_layout"}
    assert [name for name, rows in actual.items() if rows != expected[name]] == []


def _tables(path: Path) -> dict[str, list]:
    """Exact rows of all tables, except for times and requests."""
    names = {name for (name,) in fetched(path, "select name from manifest where n_rows > 0")}
    rows = "select hash(row) from stored.{} as row order by 1"
    return {name: fetched(path, rows.format(name)) for name in names - {"run", "provenance"}}


def test_no_finished_job_of_a_stopped_run_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "JOB_SEQUENCES", 2)
    asked = request(tmp_path, statistics=FEW)
    finish, finished = runner.finish_job, []

    def stopped(plan, model, index, report, *write):
        if finished:
            raise KeyboardInterrupt
        finish(plan, model, index, report, *write)
        finished.append(index)

    monkeypatch.setattr(runner, "finish_job", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(asked, run_local)
    assert not asked.output.exists()
    monkeypatch.setattr(runner, "finish_job", lambda *a: (finished.append(a[2]), finish(*a)))
    run(asked, run_local)
    assert len(finished) == len(set(finished)) > 1


def test_a_worker_that_dies_is_told(tmp_path, monkeypatch):
    dying = partial(ProcessPoolExecutor, initializer=os._exit, initargs=(1,))
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


@pytest.mark.parametrize("other", [{"limit": 2}, {"random_weights": 0}])
def test_what_is_of_another_corpus_input_or_model_is_not_kept(asked, other):
    added = replace(asked, statistics=["singular_value"])
    assert "token_norm" in shards_only(added).statistics
    assert "token_norm" not in shards_only(replace(added, **other)).statistics
