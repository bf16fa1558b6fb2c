"""A run in progress writes progress notes, and removes them at its end."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pages.ui.store.note import Note, note_beside
from precompute.jobs import note, runner
from precompute.jobs.note import noting
from precompute.jobs.runner import run_local
from precompute.jobs.shards import unfinished_name
from precompute.run import run
from tests.small_store import request

SOME = Note(1, 2, 3, socket.gethostname(), os.getpid())


def _note(folder: Path, written: Note | str) -> Path:
    path = unfinished_name(folder / "a.duckdb.computing")
    content = written if isinstance(written, str) else json.dumps(asdict(written))
    path.write_text(content, encoding="utf-8")
    return folder / "a.duckdb"


def test_a_run_says_how_far_it_is_until_it_ends(tmp_path, monkeypatch):
    asked = request(tmp_path, statistics=["token_norm"], output=tmp_path / "new" / "a.duckdb")
    seen = [note_beside(asked.output)]
    finish_job = runner.finish_job

    def watched(plan, model, job, report, *write):
        seen.append(note_beside(asked.output))
        finish_job(plan, model, job, report, *write)
        seen.append(note_beside(asked.output))

    monkeypatch.setattr(runner, "finish_job", watched)
    n = len(run(asked, run_local).corpus)
    begun = Note(0, n, 2, socket.gethostname(), os.getpid())
    done = replace(begun, n_done=n)
    assert seen[:3] == [None, begun, done]
    assert {*seen[3:]} == {done}, "while tables are merged"
    assert note_beside(asked.output) is None


def test_a_run_that_fails_leaves_no_note(tmp_path):
    def fail():
        with noting(tmp_path / "a.duckdb", run_local):
            _note(tmp_path, SOME)
            seen.extend(note_beside(tmp_path / name) for name in ("a.duckdb", "b.duckdb"))
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen == [SOME, None]
    assert list(tmp_path.iterdir()) == []


def test_the_note_of_a_run_that_was_killed_counts_no_more(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    assert note_beside(_note(tmp_path, replace(SOME, process=dead.pid))) is None
    elsewhere = replace(SOME, process=dead.pid, machine="another")
    assert note_beside(_note(tmp_path, elsewhere)) == elsewhere


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"n_done": 1}', '{"of": "another version"}', *map(str, (1, None, "a"))],
)
def test_what_is_no_note_is_passed_over(tmp_path, content):
    assert note_beside(_note(tmp_path, content)) is None


@pytest.mark.parametrize("process", [10**30, "1", None, -(10**30)])
def test_what_is_no_process_is_none(tmp_path, process):
    assert note_beside(_note(tmp_path, replace(SOME, process=process))) is None


def test_pages_know_the_fields_that_runs_write():
    assert Note.__annotations__ == note.Note.__annotations__
