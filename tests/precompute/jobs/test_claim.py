"""Two runs of one output at once: the second is refused unless it is the same one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import UserError
from precompute.jobs.claim import claimed
from precompute.jobs.runner import run_local
from precompute.request import Request
from precompute.run import run
from tests.small_store import request

ROOT = Path(__file__).parents[3]
ASKED = Request(model="m", corpus="c", output=Path(), statistics=["token_norm"])
_HOLDS = """
import sys
from pathlib import Path
from precompute.jobs.claim import claimed
from tests.precompute.jobs.test_claim import asked_of
with claimed(asked_of(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


def asked_of(folder: Path, **other) -> Request:
    return replace(ASKED, output=folder / "a.duckdb", **other)


@contextmanager
def another_run(folder: Path) -> Iterator[subprocess.Popen]:
    """A process that holds the output until it is ended."""
    command = [sys.executable, "-c", _HOLDS, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_run_for_something_else_is_refused_and_told_of_the_process(tmp_path):
    with another_run(tmp_path) as other:
        with pytest.raises(UserError, match=f"Process {other.pid} is computing") as refused:
            run(asked_of(tmp_path, statistics=["singular_value"]), run_local)
        assert "Wait until it has ended" in str(refused.value)
        assert "--output" in str(refused.value)


def test_the_same_run_and_runs_of_other_outputs_are_let_in(tmp_path):
    with another_run(tmp_path):
        with claimed(asked_of(tmp_path)):
            pass
        with claimed(asked_of(tmp_path / "elsewhere", statistics=["singular_value"])):
            pass


def test_a_run_that_was_killed_holds_nothing(tmp_path):
    with another_run(tmp_path) as other:
        other.kill()
        other.wait()
        assert [each.name for each in tmp_path.iterdir()] == [".a.duckdb.claim"]
        with claimed(asked_of(tmp_path, statistics=["singular_value"])):
            claim = (tmp_path / ".a.duckdb.claim").read_text(encoding="utf-8")
            assert f'"process": {os.getpid()},' in claim
    assert not [*tmp_path.iterdir()]


def test_a_run_leaves_no_claim_and_the_next_one_adds_to_its_file(tmp_path):
    for name in ("token_norm", "singular_value"):
        run(request(tmp_path, statistics=[name]), run_local)
        assert not [*tmp_path.glob(".*.claim")]
    asked = request(tmp_path, statistics=["token_norm"])
    asked.output.with_name("not a model").write_text("")
    with pytest.raises(UserError):
        run(replace(asked, model=str(tmp_path / "not a model")), run_local)
    assert not [*tmp_path.glob(".*.claim")]
