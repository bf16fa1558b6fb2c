"""Two runs of one output at once: the second is refused unless it is the same one."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from analysis.errors import UserError
from precompute.jobs.runner import finish_plan, run_local
from precompute.jobs.shards import claimed, remove_unfinished, unfinished_name
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request

OTHERS = "what another was asked for"
_HOLDS = f"""
import sys
from pathlib import Path
from precompute.jobs.shards import claimed
with claimed(Path(sys.argv[1]), "{OTHERS}"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_run(output: Path) -> Iterator[subprocess.Popen]:
    """A process that holds the output until it is ended."""
    command = [sys.executable, "-c", _HOLDS, str(output)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def begin(output: Path, request: str) -> None:
    with claimed(output, request):
        pass


def test_equal_runs_hold_the_output_until_the_last_of_them_ends(tmp_path):
    output = tmp_path / "a.duckdb"
    with another_run(output) as first:
        begin(tmp_path / "b.duckdb", "else")
        asked = Request(model="none", corpus="none", output=output)
        said = refused(UserError, run, asked, run_local)
        assert f"begun by process {first.pid}, is" in said
        assert "Wait until it has ended" in said
        with claimed(output, OTHERS):
            first.kill()
            first.wait()
            for _ in range(2):
                assert "other settings" in refused(UserError, begin, output, "else")
                begin(output, OTHERS)
        begin(output, "else")
    assert not [*tmp_path.iterdir()]


def test_of_runs_that_begin_at_once_one_goes_on(tmp_path):
    """Each claims before it looks; those that meet step back and look again."""
    output, together = tmp_path / "a.duckdb", Barrier(3)

    def run_of(request: str) -> str:
        together.wait()
        try:
            with claimed(output, request):
                together.wait(timeout=60)
                return "went on"
        except UserError:
            together.wait(timeout=60)
            return "refused"

    with ThreadPoolExecutor(3) as pool:
        ended = sorted(pool.map(run_of, ("a", "b", "c")))
    assert ended == ["refused", "refused", "went on"]
    assert not [*tmp_path.iterdir()]


def test_runs_leave_no_claim_and_one_whose_claim_was_removed_replaces_nothing(
    tmp_path, monkeypatch
):
    asked = request(tmp_path, statistics=["token_norm"])
    run(asked, run_local)
    asked.output.with_name("not a model").write_text("")
    refused(UserError, run, replace(asked, model=str(tmp_path / "not a model")), run_local)
    assert not [*tmp_path.glob(".*.claim")]
    before = asked.output.read_bytes()

    def finish_unclaimed(*arguments):
        finish_plan(*arguments)
        [claim] = tmp_path.glob(".*.claim")
        claim.unlink()

    monkeypatch.setattr("precompute.run.finish_plan", finish_unclaimed)
    with pytest.raises(UserError, match="was removed while this run computed"):
        run(asked, run_local)
    assert asked.output.read_bytes() == before
    assert {path.name for path in tmp_path.glob("*.duckdb*")} == {asked.output.name}


def test_what_killed_runs_left_is_removed_once_no_other_run_lives(tmp_path):
    ours, whole = unfinished_name(tmp_path / "a.duckdb"), tmp_path / ".shards" / "0.parquet"
    left = [
        path.with_name(f".{path.name}.here-7.unfinished")
        for path in (tmp_path / "b.duckdb", whole, tmp_path / ".shards" / "spill")
    ]
    left[-1].mkdir(parents=True)
    for path in (ours, whole, *left[:-1], left[-1] / "rows"):
        path.touch()
    with claimed(tmp_path / "a.duckdb", "this"):
        with another_run(tmp_path / "b.duckdb"):
            remove_unfinished(tmp_path)
            assert all(path.exists() for path in left)
        remove_unfinished(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {ours, whole}
