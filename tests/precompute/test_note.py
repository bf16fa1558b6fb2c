"""A run in progress writes progress notes, and removes them at its end."""

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.services import note
from pages.services.note import Note, note_beside
from precompute import progress
from precompute.jobs.shards import unfinished_name
from precompute.progress import Begun, Finished, displayed

SOME = Note("sequences", 1, 2, 3.0, socket.gethostname(), os.getpid())


def _note(folder: Path, written: Note | str) -> Path:
    path = unfinished_name(folder / "a[1].duckdb.computing")
    content = written if isinstance(written, str) else json.dumps(asdict(written))
    path.write_text(content, encoding="utf-8")
    return folder / "a[1].duckdb"


def test_a_run_says_how_far_it_is_until_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LOOKS", 0.01)
    output = tmp_path / "a.duckdb"
    assert note_beside(output) is None
    with displayed(output) as tell:
        tell(Begun("sequences", 8, 2, 6.0))
        tell(Finished(4, 2.0))
        found = _first_note(output, "sequences", 6)
        assert (found.total, found.process) == (8, os.getpid())
        assert found.seconds_left is not None
        tell(Begun("file"))
        assert _first_note(output, "file", 0).seconds_left is None
    assert list(tmp_path.iterdir()) == []


def _first_note(output: Path, stage: str, done: int) -> Note:
    """Wait for a note of a stage."""
    for _ in range(6000):
        found = note_beside(output)
        if found and (found.stage, found.done) == (stage, done):
            return found
        time.sleep(0.01)
    raise AssertionError


def test_a_run_that_fails_leaves_no_note(tmp_path):
    def fail():
        with displayed(tmp_path / "a[1].duckdb"):
            _note(tmp_path, SOME)
            seen.extend(note_beside(tmp_path / name) for name in ("a[1].duckdb", "a1.duckdb"))
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen == [SOME, None]
    assert list(tmp_path.iterdir()) == []


def test_the_note_of_a_run_that_was_killed_counts_no_more(tmp_path, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    assert note_beside(_note(tmp_path, replace(SOME, process=dead.pid))) is None
    elsewhere = replace(SOME, process=dead.pid, machine="another")
    assert note_beside(_note(tmp_path, elsewhere)) == elsewhere
    kill = lambda *_: pytest.fail("on Windows a signal would end the process")  # noqa: E731
    monkeypatch.setattr(note, "os", SimpleNamespace(name="nt", kill=kill))
    assert note_beside(_note(tmp_path, SOME)) == SOME
    os.utime(next(tmp_path.iterdir()), (0, 0))
    assert note_beside(tmp_path / "a[1].duckdb") is None, "nobody has written to it for an hour"


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"done": 1}', '{"of": "another version"}', "1", "null"]
    + [
        json.dumps(asdict(SOME) | {"process": process})
        for process in (10**30, "1", None, -(10**30))
    ],
)
def test_what_is_no_note_or_of_no_process_is_passed_over(tmp_path, content):
    assert note_beside(_note(tmp_path, content)) is None
