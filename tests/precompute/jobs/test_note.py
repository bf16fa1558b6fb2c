"""While a run is going on it says how far it is, and nothing stays of that."""

import subprocess
import sys

import pytest

from precompute.jobs import note, runner
from precompute.jobs.note import Note, note_beside, noting
from precompute.jobs.runner import run_local
from precompute.jobs.shards import unfinished_name
from precompute.run import run
from tests.small_store import request


def test_a_run_says_how_far_it_is_until_it_ends(tmp_path, monkeypatch):
    asked = request(tmp_path, statistics=["token_norm"])
    seen = [note_beside(asked.output)]
    finish_job = runner.finish_job

    def watched(plan, model, index, report):
        seen.append(note_beside(asked.output))
        finish_job(plan, model, index, report)
        seen.append(note_beside(asked.output))

    monkeypatch.setattr(runner, "finish_job", watched)
    n_sequences = len(run(asked, run_local).corpus.sequences)
    assert seen == [None, Note(0, n_sequences, 2), Note(n_sequences, n_sequences, 2)]
    assert note_beside(asked.output) is None


def test_a_run_that_fails_leaves_no_note(tmp_path):
    def fail():
        with noting(tmp_path / "a.duckdb", run_local):
            note._write(_path(tmp_path), Note(1, 2, 3))
            seen.extend(note_beside(tmp_path / name) for name in ("a.duckdb", "b.duckdb"))
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen == [Note(1, 2, 3), None]
    assert list(tmp_path.iterdir()) == []


def test_the_note_of_a_run_that_was_killed_counts_no_more(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    own = _path(tmp_path)
    left = own.with_name(own.name.replace(f"-{note.os.getpid()}.", f"-{dead.pid}."))
    note._write(left, Note(1, 2, 3))
    assert left.exists()
    assert note_beside(tmp_path / "a.duckdb") is None


@pytest.mark.parametrize("content", ["", "[]", '{"n_done": 1}', '{"of": "another version"}'])
def test_what_is_no_note_is_passed_over(tmp_path, content):
    _path(tmp_path).write_text(content)
    assert note_beside(tmp_path / "a.duckdb") is None


def _path(folder):
    return unfinished_name(folder / "a.duckdb.computing")
