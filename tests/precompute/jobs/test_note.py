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
from precompute.jobs import note
from precompute.jobs.note import noting
from precompute.jobs.runner import run_local
from precompute.jobs.shards import unfinished_name
from precompute.progress.events import Advanced, Begun, Event, Finished
from precompute.run import run
from tests.small_store import request

SOME = Note("sequences", 1.5, 2, 3.0, 4, socket.gethostname(), os.getpid())


def _note(folder: Path, written: Note | str) -> Path:
    path = unfinished_name(folder / "a.duckdb.computing")
    content = written if isinstance(written, str) else json.dumps(asdict(written))
    path.write_text(content, encoding="utf-8")
    return folder / "a.duckdb"


def test_a_run_says_how_far_it_is_until_it_ends(tmp_path):
    asked = request(tmp_path, statistics=["token_norm"], output=tmp_path / "new" / "a.duckdb")
    seen: list[tuple[str, float, int]] = []

    def look(event: Event) -> None:
        found = note_beside(asked.output)
        assert found is not None
        if isinstance(event, Begun | Finished):
            seen.append((found.stage, found.done, found.total))

    assert note_beside(asked.output) is None
    n = len(run(asked, run_local, look).corpus)
    begun = ["model", "proof", "corpus", "weights"]
    assert [stage for stage, *_ in seen[:4]] == begun
    assert seen[4:9] == [
        *(("sequences", done, n) for done in (0, n)),
        *(("tables", done, 2) for done in (0, 1, 2)),
    ]
    assert {stage for stage, *_ in seen[9:]} == {"file"}
    assert note_beside(asked.output) is None


def test_jobs_under_way_are_noted_once_a_second(tmp_path):
    now = 0.0
    with noting(tmp_path / "a.duckdb", lambda: now) as tell:
        tell(Begun("sequences", total=8, sizes={0: 8}))
        noted = []
        for now, share in ((0.9, 0.25), (1.0, 0.5), (1.9, 0.75)):  # noqa: B007
            tell(Advanced(0, share))
            found = note_beside(tmp_path / "a.duckdb")
            noted.append(found and found.done)
    assert noted == [0, 4, 4]


def test_a_run_that_fails_leaves_no_note(tmp_path):
    def fail():
        with noting(tmp_path / "a.duckdb"):
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
    os.utime(next(tmp_path.iterdir()), (0, 0))
    assert note_beside(tmp_path / "a.duckdb") is None, "nobody has written to it for an hour"


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"done": 1}', '{"of": "another version"}', *map(str, (1, None, "a"))],
)
def test_what_is_no_note_is_passed_over(tmp_path, content):
    assert note_beside(_note(tmp_path, content)) is None


@pytest.mark.parametrize("process", [10**30, "1", None, -(10**30)])
def test_what_is_no_process_is_none(tmp_path, process):
    assert note_beside(_note(tmp_path, replace(SOME, process=process))) is None


def test_pages_know_the_fields_that_runs_write():
    assert Note.__annotations__ == note.Note.__annotations__
