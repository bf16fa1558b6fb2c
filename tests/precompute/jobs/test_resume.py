"""Runs that are stopped, killed, shared among processes or added to end with the same numbers."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pytest

from analysis.errors import UserError
from precompute.jobs import plan as planning
from precompute.jobs import runner
from precompute.jobs.runner import run_local
from precompute.jobs.workers import run_processes, runner_for
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request

EVERY_KIND = [
    *("token_type_mixing", "head_layout", "singular_value"),  # sums, fits, weights
    *("pair_occurrence", "relevance_map", "position_variance"),  # pairs, maps, controls
]
TABLES = "select table_name from duckdb_tables() where schema_name = 'stored'"


def _assert_same_numbers(first: Path, second: Path) -> None:
    """Both files hold the same rows to the last bit, but for when they were made."""
    with duckdb.connect(str(first), read_only=True) as connection:
        connection.execute(f"attach '{second}' as other (read_only)")
        names = [name for (name,) in connection.execute(TABLES).fetchall()]
        assert len(names) > 20
        for name in names:
            if name in ("run", "manifest"):
                continue
            for a, b in (("stored", "other.stored"), ("other.stored", "stored")):
                only = f"select count(*) from (from {a}.{name} except all from {b}.{name})"
                assert connection.execute(only).fetchall() == [(0,)], name


@pytest.fixture
def small_jobs(monkeypatch):
    """Two sequences to a shard, so that tiny corpora have several."""
    monkeypatch.setattr(planning, "SHARD_SEQUENCES", 2)


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_numbers(
    tmp_path, small_jobs, monkeypatch
):
    whole, asked = (
        request(tmp_path, output=tmp_path / name / "tiny.duckdb", statistics=EVERY_KIND)
        for name in ("whole", "stopped")
    )
    run(whole, run_local)
    finished = []

    def stopped(plan, model, index, told):
        if len(finished) == 1:
            raise KeyboardInterrupt
        runner_finish(plan, model, index, told)
        finished.append(index)

    runner_finish = runner.finish_job
    monkeypatch.setattr(runner, "finish_job", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(asked, run_local)
    assert not asked.output.exists()
    monkeypatch.setattr(runner, "finish_job", lambda *a: (finished.append(a[2]), runner_finish(*a)))
    run(asked, run_local)
    assert len(finished) == len(set(finished)), "a finished job was run again"
    _assert_same_numbers(whole.output, asked.output)


def test_several_processes_give_the_numbers_of_one(tmp_path):
    one, two = (
        request(tmp_path, output=tmp_path / name / "tiny.duckdb", statistics=["token_type_mixing"])
        for name in ("one", "two")
    )
    run(one, run_local)
    run(two, runner_for("local", 2))
    with duckdb.connect(str(one.output), read_only=True) as first:
        expected = first.execute("from token_type_mixing order by all").df()
    with duckdb.connect(str(two.output), read_only=True) as second:
        found = second.execute("from token_type_mixing order by all").df()
    for column in ("attention", "value_norm", "weighted_norm"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-5)


def test_a_worker_that_dies_is_told_and_nothing_is_lost(tmp_path, monkeypatch):
    from precompute.jobs import workers

    monkeypatch.setattr(workers, "_work", _die)
    asked = request(tmp_path, statistics=["token_norm"])
    assert refused(UserError, run, asked, partial(run_processes, workers=2)) == (
        "A worker process died, most often for want of memory. Rerun the command with "
        "fewer than --workers 2: finished shards are kept."
    )
    assert not (tmp_path / "tiny.duckdb").exists()


def _die(_index: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_a_statistic_added_later_costs_only_itself(tmp_path, monkeypatch):
    asked = request(tmp_path, statistics=["completeness"])
    run(asked, run_local)
    monkeypatch.setattr(
        "precompute.passes.mixing.completeness.totals", lambda _batch: pytest.fail("computed again")
    )
    plan = run(replace(asked, statistics=["token_norm"]), run_local)
    assert plan.statistics == ("completeness", "token_norm"), "what was there must stay"
    with duckdb.connect(str(asked.output), read_only=True) as connection:
        assert connection.execute("select count(*) > 0 from token_norm").fetchall() == [(True,)]
        assert connection.execute("select count(*) > 0 from completeness").fetchall() == [(True,)]
        assert connection.execute("select count(*) from head_token").fetchall() == [(0,)]


def test_another_corpus_replaces_the_file_and_keeps_nothing_of_the_old(tmp_path):
    asked = request(tmp_path, statistics=["completeness"])
    run(asked, run_local)
    plan = run(replace(asked, statistics=["token_norm"], limit=2), run_local)
    assert plan.statistics == ("completeness", "token_norm")


def test_readers_keep_the_old_file_while_a_new_one_is_built(tmp_path):
    asked = request(tmp_path, statistics=["completeness"])
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as reader:
        run(replace(asked, statistics=["head_token"]), run_local)
        assert reader.execute("select count(*) from head_token").fetchall() == [(0,)]


def test_killing_the_process_anywhere_loses_nothing(tmp_path):
    """Once here; `tests/benchmarks/kill_anywhere.py` does it twenty times on the demo."""
    whole, asked = (
        request(tmp_path, output=tmp_path / name / "tiny.duckdb", statistics=EVERY_KIND)
        for name in ("whole", "killed")
    )
    run(whole, run_local)
    command = [sys.executable, "-m", "precompute", "run", "--model", asked.model, "--corpus"]
    command += [asked.corpus, "--output", str(asked.output), "--max-tokens", "36"]
    command += ["--statistics", ",".join(EVERY_KIND)]
    process = subprocess.Popen([*command, "--device", "cpu"], stdout=subprocess.DEVNULL)
    shards = asked.output.parent / ".shards"
    deadline = time.monotonic() + 60
    while not list(shards.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert shards.exists()
    run(asked, run_local)
    _assert_same_numbers(whole.output, asked.output)
    shutil.rmtree(shards)
